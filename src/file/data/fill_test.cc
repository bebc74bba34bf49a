#include "file/data/fill.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "file/data/io.h"
#include "pool/space/space.h"
#include "support/fresh_file.h"

namespace cairn::file {
namespace {

class FillTest : public FreshFile {
 protected:
  Result<uint64_t> fill(uint64_t offset, const std::vector<uint8_t>& bytes,
                        const MapCursor& cursor) {
    const pool::SeatGuard seat(fs->pool, file->number);
    return fill_hole(*fs, *seat, file->map(), nullptr, {bytes.data(), offset, bytes.size()},
                     cursor);
  }
  std::vector<uint8_t> block_at(uint64_t file_block) {
    std::vector<uint8_t> bytes(format::block_size, 0xee);
    const auto n = read_at(*file, bytes.data(), bytes.size(), file_block << format::block_shift);
    EXPECT_TRUE(n.ok()) << last_detail();
    return bytes;
  }
};

// The bytes before and behind the written ones may be another file's old bytes.
TEST_F(FillTest, LeavesZerosAroundTheBytes) {
  const std::vector<uint8_t> bytes(10, 7);
  const auto n = fill(100, bytes, walk_to(0));
  ASSERT_TRUE(n.ok()) << last_detail();
  EXPECT_EQ(*n, bytes.size());
  fs->pool.store(file->inode->size, format::block_size);
  std::vector<uint8_t> expected(format::block_size, 0);
  for (size_t i = 0; i < bytes.size(); ++i) expected[100 + i] = 7;
  EXPECT_EQ(block_at(0), expected);
}

// Another thread has filled the hole since this one walked: its block stays, with these bytes, and
// no block is lost.
TEST_F(FillTest, AStaleCursorTakesNoSecondBlock) {
  const MapCursor stale = walk_to(2);
  const std::vector<uint8_t> first(format::block_size, 1);
  ASSERT_TRUE(write_at(*file, first.data(), first.size(), 2 * format::block_size).ok());
  const auto winner = walk_to(2).block;
  const uint64_t free = pool::usage(fs->pool).free;
  const std::vector<uint8_t> second(8, 2);
  const auto n = fill(2 * format::block_size + 16, second, stale);
  ASSERT_TRUE(n.ok()) << last_detail();
  EXPECT_EQ(walk_to(2).block, winner);
  EXPECT_EQ(pool::usage(fs->pool).free, free);
  std::vector<uint8_t> expected = first;
  for (size_t i = 0; i < second.size() && *n != 0; ++i) expected[16 + i] = 2;
  EXPECT_EQ(block_at(2), expected);
}

TEST_F(FillTest, EndsWhereTheHoleEnds) {
  const std::vector<uint8_t> one(format::block_size, 1);
  ASSERT_TRUE(write_at(*file, one.data(), one.size(), 2 * format::block_size).ok());
  const std::vector<uint8_t> four(4 * format::block_size, 3);
  const auto n = fill(0, four, walk_to(0));
  ASSERT_TRUE(n.ok()) << last_detail();
  EXPECT_LE(*n, 2 * format::block_size);
  EXPECT_GE(*n, format::block_size);
  EXPECT_EQ(block_at(2), one);
}

}  // namespace
}  // namespace cairn::file
