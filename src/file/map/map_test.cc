#include "file/map/map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "file/data/io.h"
#include "support/fresh_file.h"

namespace cairn::file {
namespace {

TEST(MapLevelsTest, BeginWhereTheOnesBelowEnd) {
  const std::vector<uint64_t> first = {0, 8, 512, 512 * 512, 512ULL * 512 * 512};
  for (unsigned level = 0; level < first.size(); ++level) {
    EXPECT_EQ(level_of(first[level]), level);
    if (level != 0) {
      EXPECT_EQ(level_of(first[level] - 1), level - 1);
    }
  }
  EXPECT_EQ(level_of(max_file_blocks - 1), 4U);
  EXPECT_EQ(base_of(513, 1), 512U);
  EXPECT_EQ(base_of(511, 1), 0U);
}

class MapTest : public FreshFile {
 protected:
  void write_block(uint64_t file_block, uint64_t blocks = 1) {
    const std::vector<uint8_t> bytes(blocks * format::block_size, 1);
    const auto n = write_at(*file, bytes.data(), bytes.size(), file_block << format::block_shift);
    ASSERT_TRUE(n.ok()) << last_detail();
    ASSERT_EQ(*n, bytes.size());
  }
};

// A block has its entry where its number says; its neighbours of other levels stay holes.
TEST_F(MapTest, FindsBlocksOnBothSidesOfEachLevel) {
  for (const uint64_t block : {uint64_t{7}, uint64_t{512}, uint64_t{512 * 512}}) {
    write_block(block);
    EXPECT_TRUE(walk_to(block).block) << block;
    EXPECT_FALSE(walk_to(block + 1).block) << block;
    EXPECT_FALSE(walk_to(block - 1).block) << block;
  }
}

TEST_F(MapTest, RunsAreOfBlocksThatFollowEachOther) {
  write_block(0, 12);  // over the end of the entries in the inode
  for (uint64_t block = 0; block < 12; ++block) {
    const MapCursor cursor = walk_to(block);
    const uint64_t run = contiguous(fs->pool, file->map(), block, cursor, 12 - block);
    ASSERT_GE(run, 1U);
    ASSERT_LE(run, 12 - block);
    for (uint64_t i = 0; i < run; ++i)
      EXPECT_EQ(walk_to(block + i).block, cursor.block.plus(i)) << block << " + " << i;
  }
}

TEST_F(MapTest, RunsOfHolesEndAtABlockAndAtTheEndOfTheSlots) {
  write_block(5);
  EXPECT_EQ(hole_run(file->map(), 0, walk_to(0), 100), 5U);
  EXPECT_EQ(hole_run(file->map(), 6, walk_to(6), 100), 2U);  // the inode has eight entries
}

// An entry that was copied from another place of the map, or from another file, fails its check.
TEST_F(MapTest, RefusesAnEntryThatBelongsElsewhere) {
  write_block(3);
  const MapCursor at = walk_to(3);
  const MapCursor hole = walk_to(4);
  fs->pool.store(*hole.word, at.entry.value);
  MapCursor cursor;
  EXPECT_EQ(walk(fs->pool, file->map(), 4, &cursor).code(), EIO);
  fs->pool.store(*hole.word, 0);
  EXPECT_TRUE(walk(fs->pool, file->map(), 4, &cursor).ok());
  fs->pool.store(*at.word, at.entry.value ^ (1ULL << 24));
  EXPECT_EQ(walk(fs->pool, file->map(), 3, &cursor).code(), EIO);
  fs->pool.store(*at.word, at.entry.value);
}

}  // namespace
}  // namespace cairn::file
