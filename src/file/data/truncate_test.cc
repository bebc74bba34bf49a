#include "file/data/truncate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "file/data/io.h"
#include "file/inode/attributes.h"
#include "pool/space/space.h"
#include "support/fresh_file.h"

namespace cairn::file {
namespace {

using format::block_size;

class TruncateTest : public FreshFile {
 protected:
  // Takes every block, also those that are kept for cuts.
  std::vector<pool::BlockRun> take_all() {
    const pool::SeatGuard seat(fs->pool);
    std::vector<pool::BlockRun> runs;
    for (;;) {
      auto run =
          pool::take(fs->pool, *seat, {.inode = 1, .wanted = 64, .need = pool::Need::reserve});
      if (!run.ok()) return runs;
      pool::clear_in_flight(fs->pool, *seat, *run);
      runs.push_back(*run);
    }
  }
  std::vector<uint8_t> bytes_of_file() {
    std::vector<uint8_t> bytes(file->inode->size.load(), 0xee);
    const auto n = read_at(*file, bytes.data(), bytes.size(), 0);
    EXPECT_TRUE(n.ok()) << last_detail();
    return bytes;
  }
  uint64_t change_time() {
    const pool::SeatGuard seat(fs->pool);
    return attributes_of(*fs, file->map()).ctime;
  }
};

// A cut copies a node of the map. If the pool has no block for it, the punch fails, and a drain
// takes the file for unchanged. So the parts of blocks at its ends must not be zeros by then.
TEST_F(TruncateTest, ARefusedPunchChangesNothing) {
  const std::vector<uint8_t> written(64 * block_size, 7);
  ASSERT_TRUE(write_at(*file, written.data(), written.size(), 0).ok()) << last_detail();
  const uint64_t before = change_time();
  const uint64_t offset = 20 * block_size + 23;
  const uint64_t size = 10 * block_size;
  const std::vector<pool::BlockRun> all = take_all();
  EXPECT_EQ(punch(*fs, file->map(), offset, size).code(), ENOSPC);
  EXPECT_TRUE(bytes_of_file() == written);
  EXPECT_EQ(change_time(), before);
  for (const pool::BlockRun& run : all) pool::give_back(fs->pool, run.first, run.count);
  ASSERT_TRUE(punch(*fs, file->map(), offset, size).ok()) << last_detail();
  std::vector<uint8_t> expected = written;
  std::fill_n(expected.begin() + static_cast<ptrdiff_t>(offset), size, 0);
  EXPECT_TRUE(bytes_of_file() == expected);
  EXPECT_GT(change_time(), before);
}

}  // namespace
}  // namespace cairn::file
