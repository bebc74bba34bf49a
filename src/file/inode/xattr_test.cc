#include "file/inode/xattr.h"

#include "file/namespace/names.h"
#include "support/fresh_pool.h"

namespace cairn::file {
namespace {

using Attributes = FreshPool;

// A drain's note is not a change by the program. Restoring the old time afterwards would undo a
// change that another process has made meanwhile.
TEST_F(Attributes, ANoteLeavesTheTimeOfChange) {
  CreateRequest request;
  request.mode = S_IFREG | 0600;
  auto map = create_name(*fs, format::root_inode, "file", request);
  ASSERT_TRUE(map.ok()) << last_detail();
  const uint64_t long_ago = 1'000'000'007;
  fs->pool.store_flush(map->inode->ctime, long_ago);
  ASSERT_TRUE(note_xattr(*fs, *map, "cairn.note", "value", 5).ok()) << last_detail();
  ASSERT_TRUE(note_xattr(*fs, *map, "cairn.note", "other", 5).ok()) << last_detail();
  EXPECT_EQ(map->inode->ctime.load(), long_ago);
  EXPECT_EQ(*get_xattr(*fs, *map, "cairn.note"), "other");
  ASSERT_TRUE(set_xattr(*fs, *map, "user.own", "value", 5, 0).ok()) << last_detail();
  EXPECT_GT(map->inode->ctime.load(), long_ago);
}

}  // namespace
}  // namespace cairn::file
