#include "base/bounded_reader.h"

#include <gtest/gtest.h>

#include <array>

namespace cairn {
namespace {

constexpr std::array<uint8_t, 16> bytes = {1,   2,   3,   4,  5,  6,  7,  8,
                                           'a', 'b', 'c', 12, 13, 14, 15, 16};

TEST(BoundedReader, TakesWhatLiesThere) {
  BoundedReader reader(bytes.data(), bytes.size());
  EXPECT_EQ(reader.take<uint8_t>(), 1);
  reader.align(4);
  EXPECT_EQ(reader.take<uint32_t>(), 0x08070605U);
  reader.align(4);
  EXPECT_EQ(reader.text(3), "abc");
  EXPECT_EQ(reader.position(), 11U);
  EXPECT_EQ(reader.left(), 5U);
  EXPECT_EQ(reader.table(2, 2), bytes.data() + 11);
  EXPECT_TRUE(reader.ok());
}

TEST(BoundedReader, FailsForGoodAtTheFirstOverrun) {
  BoundedReader reader(bytes.data(), bytes.size());
  reader.range(13);
  EXPECT_EQ(reader.take<uint32_t>(), 0U);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.left(), 0U);
  EXPECT_EQ(reader.take<uint8_t>(), 0) << "though a byte is left";
  EXPECT_EQ(reader.range(0), nullptr);
  EXPECT_EQ(reader.text(1), "");
}

TEST(BoundedReader, LengthsThatWrapAroundAreTooLong) {
  for (const uint64_t count : {UINT64_MAX, UINT64_MAX / 8 + 2, uint64_t{1} << 61}) {
    BoundedReader reader(bytes.data(), bytes.size());
    EXPECT_EQ(reader.table(count, 8), nullptr) << count;
    EXPECT_FALSE(reader.ok());
  }
  BoundedReader reader(bytes.data(), bytes.size());
  reader.range(1);
  EXPECT_EQ(reader.range(UINT64_MAX), nullptr);
}

TEST(BoundedReader, TheLastByteCanBeTaken) {
  BoundedReader reader(bytes.data(), bytes.size());
  EXPECT_NE(reader.range(bytes.size()), nullptr);
  EXPECT_TRUE(reader.ok());
  reader.align(8);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.take<uint8_t>(), 0);
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace cairn
