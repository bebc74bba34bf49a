#include "file/inode/blocks.h"

#include <gtest/gtest.h>

#include "file/data/io.h"
#include "file/inode/attributes.h"
#include "pool/lanes/seats.h"
#include "support/fresh_file.h"

namespace cairn::file {
namespace {

class BlocksTest : public FreshFile {
 protected:
  void write(uint64_t file_block) {
    ASSERT_TRUE(write_at(*file, "x", 1, file_block << format::block_shift).ok()) << last_detail();
  }
  void expect(uint64_t data, uint64_t nodes) {
    const pool::SeatGuard seat(fs->pool, file->number);
    const Attributes attributes = attributes_of(*fs, file->map());
    EXPECT_EQ(attributes.blocks, data);
    EXPECT_EQ(held_blocks(fs->pool, file->map(), attributes.size), data + nodes);
  }
};

// A file behind a hole has a page table, which st_blocks does not count.
TEST_F(BlocksTest, APageTableIsHeldAndIsNoData) {
  expect(0, 0);
  write(0);
  expect(1, 0);
  write(100);
  expect(2, 1);
  write(1000);
  expect(3, 3);
}

}  // namespace
}  // namespace cairn::file
