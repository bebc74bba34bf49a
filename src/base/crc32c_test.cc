#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace cairn {
namespace {

// The definition, one bit at a time: the oracle for both implementations.
uint32_t bitwise(const void* data, size_t size) {
  const auto* p = static_cast<const unsigned char*>(data);
  uint32_t crc = ~0U;
  for (size_t i = 0; i < size; ++i) {
    crc ^= p[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

// RFC 3720 appendix B.4.
TEST(Crc32c, PublishedVectors) {
  std::array<unsigned char, 32> bytes{};
  EXPECT_EQ(crc32c(0, bytes.data(), bytes.size()), 0x8a9136aaU);
  bytes.fill(0xff);
  EXPECT_EQ(crc32c(0, bytes.data(), bytes.size()), 0x62a8ab43U);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i);
  EXPECT_EQ(crc32c(0, bytes.data(), bytes.size()), 0x46dd794eU);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(31 - i);
  EXPECT_EQ(crc32c(0, bytes.data(), bytes.size()), 0x113fdb5cU);
  EXPECT_EQ(crc32c(0, "123456789", 9), 0xe3069283U);
}

TEST(Crc32c, NothingLeavesTheValueAlone) {
  EXPECT_EQ(crc32c(0, nullptr, 0), 0U);
  EXPECT_EQ(crc32c(0x12345678U, nullptr, 0), 0x12345678U);
}

TEST(Crc32c, EverySizeAndAlignmentAgreesWithTheDefinition) {
  std::vector<unsigned char> bytes(300);
  uint32_t state = 1;
  for (auto& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<unsigned char>(state >> 24);
  }
  for (size_t start = 0; start < 9; ++start) {
    for (size_t size = 0; start + size <= bytes.size(); ++size) {
      ASSERT_EQ(crc32c(0, &bytes[start], size), bitwise(&bytes[start], size))
          << "start " << start << " size " << size;
    }
  }
}

TEST(Crc32c, ExtendingEqualsOneCall) {
  const char text[] = "a pile of stones that marks the way";
  const size_t size = std::strlen(text);
  for (size_t cut = 0; cut <= size; ++cut) {
    EXPECT_EQ(crc32c(crc32c(0, text, cut), text + cut, size - cut), bitwise(text, size));
  }
}

TEST(Crc32c, EverySingleFlippedBitIsSeen) {
  std::array<unsigned char, 64> bytes{};
  const uint32_t before = crc32c(0, bytes.data(), bytes.size());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
    EXPECT_NE(crc32c(0, bytes.data(), bytes.size()), before) << bit;
    bytes[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
  }
}

}  // namespace
}  // namespace cairn
