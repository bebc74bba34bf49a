#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "file/inode/file_system.h"
#include "file/namespace/names.h"
#include "support/fresh_pool.h"

namespace cairn::file {
namespace {

using InodeTable = FreshPool;

TEST_F(InodeTable, ALiveInodeIsNotTakenBecauseOfAFlippedBit) {
  for (int bit = 0; bit < 3; ++bit) {
    SCOPED_TRACE(bit);
    const std::string name = "file" + std::to_string(bit);
    const auto made = create_name(*fs, format::root_inode, name, {S_IFREG | 0600});
    ASSERT_TRUE(made.ok()) << last_detail();
    Inode* const inode = inode_at(*fs, made->number);
    ASSERT_NE(inode, nullptr);
    fs->pool.store(inode->state, inode->state.load() ^ uint64_t{1} << bit);
    for (int i = 0; i < 2000; ++i) {
      const std::string other = std::to_string(bit) + "." + std::to_string(i);
      const auto next = create_name(*fs, format::root_inode, other, {S_IFREG | 0600});
      ASSERT_TRUE(next.ok()) << last_detail();
      ASSERT_NE(next->number, made->number) << i;
    }
    EXPECT_FALSE(live_inode(*fs, made->number).ok());
    fs->pool.store(inode->state, format::inode_live);
  }
}

TEST_F(InodeTable, TheNumbersOfRemovedFilesAreTakenAgain) {
  uint64_t greatest = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto made = create_name(*fs, format::root_inode, "file", {S_IFREG | 0600});
    ASSERT_TRUE(made.ok()) << last_detail();
    greatest = std::max(greatest, made->number);
    ASSERT_TRUE(unlink_name(*fs, format::root_inode, "file").ok()) << last_detail();
  }
  EXPECT_LT(greatest, 5000U);
}

}  // namespace
}  // namespace cairn::file
