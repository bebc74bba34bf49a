// Drains while programs are at work: what is quiet goes, the rest stays for a later one.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

constexpr uint64_t second_ns = 1'000'000'000;

class WhileRunningTest : public CoverTest {
 protected:
  void SetUp() override {
    make_pool();
    put_some_files();
    covered = std::make_unique<Covered>(pool_, lower_);
  }
  // A drain of what has not changed for `quiet_ns`.
  int drain(uint64_t quiet_ns, bool open_too = false) {
    what = {};
    what.struct_size = sizeof what;
    what.quiet_ns = quiet_ns;
    what.open_too = open_too ? 1 : 0;
    return cairn_cover_drain_while_running(covered->cover, &what, nullptr, nullptr, nullptr,
                                           &report);
  }
  std::unique_ptr<Covered> covered;
  cairn_while_running what{};
  cairn_drain_report report{};
};

TEST_F(WhileRunningTest, AFileThatChangedAMomentAgoStays) {
  ASSERT_EQ(covered->create("fresh", "new bytes"), 0);
  ASSERT_EQ(drain(3600 * second_ns), 0) << cairn_last_error();
  EXPECT_EQ(what.postponed_files, 1U);
  EXPECT_EQ(what.postponed_bytes, 9U);
  EXPECT_EQ(report.files, 0U);
  EXPECT_FALSE(fs::exists(lower_ + "/fresh"));
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_EQ(what.postponed_files, 0U);
  EXPECT_EQ(report.files, 1U);
  EXPECT_EQ(get(lower_ + "/fresh"), "new bytes");
  expect_drained(*covered);
}

TEST_F(WhileRunningTest, AnOpenFileStaysUnlessItIsAskedFor) {
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(covered->pool, covered->top, "log", O_WRONLY | O_CREAT, 0644, &file), 0);
  ASSERT_EQ(cairn_write(file, "first", 5), 5);
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_EQ(what.postponed_files, 1U);
  EXPECT_FALSE(fs::exists(lower_ + "/log"));
  ASSERT_EQ(drain(0, true), 0) << cairn_last_error();
  EXPECT_EQ(what.postponed_files, 0U);
  EXPECT_EQ(get(lower_ + "/log"), "first");
  ASSERT_EQ(cairn_write(file, "second", 6), 6);
  ASSERT_EQ(drain(0, true), 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/log"), "firstsecond");
  ASSERT_EQ(cairn_close(file), 0);
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_EQ(what.postponed_files, 0U);
  expect_drained(*covered);
}

// Stores through a mapping move no time on.
TEST_F(WhileRunningTest, AMappedFileStays) {
  ASSERT_EQ(covered->create("mapped", std::string(8192, 'm')), 0);
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(covered->pool, covered->top, "mapped", O_RDWR, 0, &file), 0);
  void* address = nullptr;
  ASSERT_EQ(cairn_mmap(file, nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 0, &address), 0)
      << cairn_last_error();
  ASSERT_EQ(cairn_close(file), 0);
  ASSERT_EQ(drain(0, true), 0) << cairn_last_error();
  EXPECT_EQ(what.postponed_files, 1U);
  EXPECT_FALSE(fs::exists(lower_ + "/mapped"));
  static_cast<char*>(address)[0] = 'M';
  ASSERT_EQ(cairn_munmap(covered->pool, address, 8192), 0);
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/mapped")[0], 'M');
  expect_drained(*covered);
}

// The bytes of a file that has moved lie in lower under its old name. That name stays as long as
// the file is not there under its new one.
TEST_F(WhileRunningTest, NoNameGoesBeforeWhatMovedIsThere) {
  ASSERT_EQ(covered->write("dir/a", "XYZ", 0), 0);
  ASSERT_EQ(cairn_rename(covered->pool, covered->top, "dir/a", covered->top, "moved", 0), 0);
  ASSERT_EQ(cairn_unlink(covered->pool, covered->top, "hello"), 0);
  ASSERT_EQ(drain(3600 * second_ns), 0) << cairn_last_error();
  EXPECT_EQ(what.postponed_files, 1U);
  EXPECT_TRUE(fs::exists(lower_ + "/dir/a"));
  EXPECT_TRUE(fs::exists(lower_ + "/hello"));
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_FALSE(fs::exists(lower_ + "/dir/a"));
  EXPECT_FALSE(fs::exists(lower_ + "/hello"));
  EXPECT_EQ(get(lower_ + "/moved").substr(0, 4), "XYZa");
  expect_drained(*covered);
}

// Another directory gets the name of one that was moved away, while the directory above both is not
// whole in lower yet. What lower has in the first one does not stay there.
TEST_F(WhileRunningTest, AnotherDirectoryGetsANameInANewOne) {
  cairn_pool* pool = covered->pool;
  for (const char* name : {"new", "new/a", "b"})
    ASSERT_EQ(cairn_mkdir(pool, covered->top, name, 0755), 0);
  ASSERT_EQ(covered->create("new/a/first", "first"), 0);
  ASSERT_EQ(covered->create("b/second", "second"), 0);
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(pool, covered->top, "new/open", O_WRONLY | O_CREAT, 0644, &file), 0);
  ASSERT_EQ(cairn_write(file, "open", 4), 4);
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  ASSERT_TRUE(fs::exists(lower_ + "/new/a/first"));
  ASSERT_EQ(cairn_rename(pool, covered->top, "new/a", covered->top, "moved", 0), 0);
  ASSERT_EQ(cairn_rename(pool, covered->top, "b", covered->top, "new/a", 0), 0);
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/new/a/second"), "second");
  EXPECT_FALSE(fs::exists(lower_ + "/new/a/first"));
  ASSERT_EQ(cairn_close(file), 0);
  expect_drained(*covered);
}

// All names of a file wait together, so that they stay names of one file.
TEST_F(WhileRunningTest, TheNamesOfAFileWaitTogether) {
  ASSERT_EQ(covered->create("one", "bytes"), 0);
  ASSERT_EQ(cairn_link(covered->pool, covered->top, "one", covered->top, "dir/two", 0), 0)
      << cairn_last_error();
  ASSERT_EQ(drain(3600 * second_ns), 0) << cairn_last_error();
  EXPECT_EQ(what.postponed_files, 1U);
  EXPECT_FALSE(fs::exists(lower_ + "/one"));
  EXPECT_FALSE(fs::exists(lower_ + "/dir/two"));
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_TRUE(fs::equivalent(lower_ + "/one", lower_ + "/dir/two"));
  expect_drained(*covered);
}

// What is drained counts as such, be it in a directory that the run has made, while others wait.
TEST_F(WhileRunningTest, ANewDirectoryIsFinishedWhileOthersWait) {
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "new", 0755), 0);
  ASSERT_EQ(covered->create("new/file", "bytes"), 0);
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(covered->pool, covered->top, "log", O_WRONLY | O_CREAT, 0644, &file), 0);
  ASSERT_EQ(cairn_write(file, "first", 5), 5);
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_EQ(what.postponed_files, 1U);
  const auto visit = [](void* context, const cairn_cover_info* info) {
    EXPECT_EQ(info->undrained_files, 1U);
    EXPECT_STREQ(info->oldest, "log");
    *static_cast<bool*>(context) = true;
  };
  bool visited = false;
  ASSERT_EQ(cairn_cover_list(covered->pool, visit, &visited), 0) << cairn_last_error();
  EXPECT_TRUE(visited);
  ASSERT_EQ(cairn_close(file), 0);
}

// What is drained in a directory that waits for another file is not counted again.
TEST_F(WhileRunningTest, AnUnfinishedDirectoryCountsOnlyWhatWaits) {
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "new", 0755), 0);
  ASSERT_EQ(covered->create("new/file", std::string(100000, 'b')), 0);
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(covered->pool, covered->top, "new/log", O_WRONLY | O_CREAT, 0644, &file), 0);
  ASSERT_EQ(cairn_write(file, "first", 5), 5);
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_EQ(report.files, 1U);
  const auto visit = [](void* context, const cairn_cover_info* info) {
    EXPECT_EQ(info->undrained_files, 1U);
    EXPECT_EQ(info->undrained_bytes, 5U);
    EXPECT_STREQ(info->oldest, "new/log");
    EXPECT_EQ(info->all_drained, 0U);
    *static_cast<bool*>(context) = true;
  };
  bool visited = false;
  ASSERT_EQ(cairn_cover_list(covered->pool, visit, &visited), 0) << cairn_last_error();
  EXPECT_TRUE(visited);
  ASSERT_EQ(cairn_close(file), 0);
}

// A directory is not finished in lower while something in it waits. What is drained there may go.
TEST_F(WhileRunningTest, AFileInANewDirectoryIsEvictedWhileOthersWait) {
  const std::string bytes(100000, 'b');
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "new", 0755), 0);
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "new/deep", 0755), 0);
  ASSERT_EQ(covered->create("new/deep/file", bytes), 0);
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(covered->pool, covered->top, "new/log", O_WRONLY | O_CREAT, 0644, &file), 0);
  ASSERT_EQ(cairn_write(file, "first", 5), 5);
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_EQ(what.postponed_files, 1U);
  EXPECT_EQ(report.files, 1U);
  ASSERT_EQ(cairn_tier_evict(covered->cover, "new/deep/file", nullptr), 0) << cairn_last_error();
  EXPECT_NE(covered->stat("new/deep/file").flags & CAIRN_FILE_LAZY, 0U);
  EXPECT_EQ(covered->read("new/deep/file"), bytes);
  // No later drain has anything to do with it.
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_EQ(report.files, 0U);
  // Its attributes may change, and it may move with its directory.
  ASSERT_EQ(cairn_chmod(covered->pool, covered->stat("new/deep/file").ino, 0, 0600), 0);
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_EQ(report.files, 1U);
  EXPECT_EQ(fs::status(lower_ + "/new/deep/file").permissions(), fs::perms(0600));
  ASSERT_EQ(cairn_rename(covered->pool, covered->top, "new/deep", covered->top, "moved", 0), 0);
  ASSERT_EQ(cairn_close(file), 0);
  ASSERT_EQ(drain(0), 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/moved/file"), bytes);
  EXPECT_FALSE(fs::exists(lower_ + "/new/deep"));
  expect_drained(*covered);
}

// Nothing was drained, because all that waits together did not fit.
TEST_F(WhileRunningTest, WhatFitsIntoAFullDirectoryIsDrained) {
  const std::string small = shared_.path("small");
  fs::create_directory(small);
  if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", small.c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "nothing can be mounted here";
  {
    Covered own(pool_, small);
    ASSERT_EQ(own.create("large", std::string(2'000'000, 'l')), 0);
    ASSERT_EQ(own.create("fits", std::string(500'000, 'f')), 0);
    cairn_while_running rule = {};
    rule.struct_size = sizeof rule;
    EXPECT_EQ(cairn_cover_drain_while_running(own.cover, &rule, nullptr, nullptr, nullptr, &report),
              -ENOSPC);
    EXPECT_EQ(report.files, 1U);
    EXPECT_EQ(report.failed, 1U);
    EXPECT_EQ(get(small + "/fits"), std::string(500'000, 'f'));
    EXPECT_FALSE(fs::exists(small + "/large"));
    EXPECT_EQ(own.discard(), 0) << cairn_last_error();
  }
  umount2(small.c_str(), MNT_DETACH);
}

// It is copied once, and waits: neither copied again and again, nor an error.
TEST_F(WhileRunningTest, AFileThatChangesWhileItIsCopiedStays) {
  constexpr size_t size = 1 << 20;
  ASSERT_EQ(covered->create("log", std::string(size, 'l')), 0);
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "later", 0755), 0);
  ASSERT_EQ(covered->create("later/quiet", std::string(size, 'q')), 0);
  // Counts bytes as a keeper does that keeps to a rate.
  struct Seen {
    Covered& covered;
    uint64_t last = 0;
    uint64_t written = 0;
  } seen{*covered};
  const auto progress = [](void* context, uint64_t done, uint64_t /*total*/) {
    auto& so_far = *static_cast<Seen*>(context);
    if (done > so_far.last) so_far.written += done - so_far.last;
    so_far.last = done;
    if (so_far.written > size || so_far.written == 0) return 0;
    EXPECT_EQ(so_far.covered.write("log", "x"), 0);
    return 0;
  };
  what.struct_size = sizeof what;
  ASSERT_EQ(
      cairn_cover_drain_while_running(covered->cover, &what, progress, nullptr, &seen, &report), 0)
      << cairn_last_error();
  EXPECT_EQ(what.postponed_files, 1U);
  EXPECT_EQ(what.postponed_bytes, size);
  EXPECT_EQ(report.failed, 0U);
  EXPECT_EQ(seen.written, 2 * size);
  EXPECT_FALSE(fs::exists(lower_ + "/log"));
  EXPECT_EQ(fs::file_size(lower_ + "/later/quiet"), size);
  expect_drained(*covered);
}

TEST_F(WhileRunningTest, WrongArguments) {
  EXPECT_EQ(
      cairn_cover_drain_while_running(covered->cover, nullptr, nullptr, nullptr, nullptr, &report),
      -EINVAL);
  what.struct_size = sizeof what - 1;
  EXPECT_EQ(
      cairn_cover_drain_while_running(covered->cover, &what, nullptr, nullptr, nullptr, &report),
      -EINVAL);
}

}  // namespace
}  // namespace cairn::test
