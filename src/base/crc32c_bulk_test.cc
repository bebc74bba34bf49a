#include "base/crc32c_bulk.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <vector>

#include "base/crc32c.h"

namespace cairn {
namespace {

std::vector<uint8_t> some_bytes(size_t size) {
  std::vector<uint8_t> bytes(size);
  uint32_t state = 7;
  for (auto& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

// Sizes around those at which the number of streams and their length change.
TEST(Crc32cBulk, EqualsTheSimpleSum) {
  const auto bytes = some_bytes(size_t{100} << 10);
  for (const size_t around : {0, 8, 768, 1536, 12288, 13056, 24576, 65536, 99000}) {
    for (int more = -9; more <= 9; ++more) {
      if (more < 0 && around < 9) continue;
      const size_t size = around + static_cast<size_t>(more + 9) - 9;
      for (size_t start = 0; start < 9; ++start)
        ASSERT_EQ(crc32c_bulk(0, &bytes[start], size), crc32c(0, &bytes[start], size))
            << "start " << start << " size " << size;
    }
  }
}

TEST(Crc32cBulk, ExtendingEqualsOneCall) {
  const auto bytes = some_bytes(40000);
  const uint32_t whole = crc32c(0, bytes.data(), bytes.size());
  for (size_t cut = 0; cut <= bytes.size(); cut += 997)
    EXPECT_EQ(crc32c_bulk(crc32c_bulk(0, bytes.data(), cut), &bytes[cut], bytes.size() - cut),
              whole);
}

// Reported, and not judged: the machine may be busy.
TEST(Crc32cBulk, HowFastItIs) {
  const auto bytes = some_bytes(size_t{64} << 10);
  const auto rate = [&](auto sum) {
    double best = 0;
    uint32_t crc = 0;
    for (int round = 0; round < 20; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < 20; ++i) crc = sum(crc, bytes.data(), bytes.size());
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      best = std::max(best, 20.0 * static_cast<double>(bytes.size()) / took.count() / 1e9);
    }
    EXPECT_NE(crc, 1U);
    return best;
  };
  RecordProperty("one_stream_gb_per_s", std::to_string(rate(crc32c)));
  RecordProperty("bulk_gb_per_s", std::to_string(rate(crc32c_bulk)));
  std::printf("one stream %.1f GB/s, bulk %.1f GB/s\n", rate(crc32c), rate(crc32c_bulk));
}

}  // namespace
}  // namespace cairn
