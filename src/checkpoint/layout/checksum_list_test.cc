#include "checkpoint/layout/checksum_list.h"

#include <gtest/gtest.h>

#include <random>

#include "base/crc32c.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t block = 1024;

std::vector<uint8_t> some_bytes(size_t size) {
  std::mt19937 random(61);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

std::vector<uint32_t> list_of(const std::vector<uint8_t>& bytes) {
  std::vector<uint32_t> list;
  for (size_t at = 0; at < bytes.size(); at += block)
    list.push_back(crc32c(0, &bytes[at], std::min<size_t>(block, bytes.size() - at)));
  return list;
}

TEST(ChecksumList, PiecesInAnySizesGiveTheListOfTheWhole) {
  std::mt19937 random(62);
  for (const size_t size : {0U, 1U, 1023U, 1024U, 1025U, 10000U}) {
    auto bytes = some_bytes(size);
    for (int round = 0; round < 50; ++round) {
      ChecksumWriter writer(block);
      size_t at = 0;
      while (at < size) {
        const size_t n = std::min<size_t>(size - at, random() % 2500);
        if (random() % 4 == 0) {
          std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), n, uint8_t{0});
          writer.add_zeros(n);
        } else {
          writer.add(&bytes[at], n);
        }
        at += n;
      }
      ASSERT_EQ(writer.position(), size);
      ASSERT_EQ(writer.finish(), list_of(bytes));
      ASSERT_EQ(list_of(bytes).size(), blocks_of(size, block));
    }
  }
}

TEST(ChecksumList, FindsTheBlockThatDiffers) {
  const auto bytes = some_bytes(5000);
  const auto list = list_of(bytes);
  for (uint64_t offset = 0; offset < bytes.size(); offset += 333)
    for (uint64_t size = 1; offset + size <= bytes.size(); size += 777) {
      const BlockRange range = blocks_around(offset, size, bytes.size(), block);
      ASSERT_LE(range.offset, offset);
      ASSERT_GE(range.offset + range.bytes, offset + size);
      ASSERT_LE(range.offset + range.bytes, bytes.size());
      auto part = std::vector<uint8_t>(
          bytes.begin() + static_cast<std::ptrdiff_t>(range.offset),
          bytes.begin() + static_cast<std::ptrdiff_t>(range.offset + range.bytes));
      ASSERT_EQ(first_bad_block(list, range, part.data(), block), range.first + range.count);
      part.back() ^= 4;
      ASSERT_EQ(first_bad_block(list, range, part.data(), block), range.first + range.count - 1);
      part.front() ^= 4;
      ASSERT_EQ(first_bad_block(list, range, part.data(), block), range.first);
    }
}

TEST(ChecksumList, AListThatIsTooShortIsABadBlock) {
  const auto bytes = some_bytes(5000);
  auto list = list_of(bytes);
  list.pop_back();
  const BlockRange range = blocks_around(0, bytes.size(), bytes.size(), block);
  EXPECT_EQ(first_bad_block(list, range, bytes.data(), block), 4U);
}

}  // namespace
}  // namespace cairn::checkpoint
