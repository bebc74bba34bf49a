// What a cover shows: lower's names and bytes until they are changed, the pool's from then on.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>

#include "capi/core/handles.h"
#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

class ShownTest : public CoverTest {
 protected:
  void SetUp() override {
    make_pool();
    put_some_files();
    put(lower_ + "/empty", "");
    ASSERT_EQ(mkfifo((lower_ + "/fifo").c_str(), 0640), 0);
    ASSERT_EQ(chmod((lower_ + "/hello").c_str(), 0750), 0);
    setxattr((lower_ + "/hello").c_str(), "user.color", "blue", 4, 0);
  }
};

TEST_F(ShownTest, LowersNamesAttributesAndBytesAreShown) {
  const auto before = describe(lower_);
  Covered covered(pool_, lower_);
  ASSERT_NE(covered.cover, nullptr);
  EXPECT_EQ(difference(covered.describe(), before), "");
  EXPECT_EQ(covered.stat("dir/a").flags & CAIRN_FILE_LAZY, CAIRN_FILE_LAZY);
  EXPECT_EQ(covered.list("."), (std::vector<std::string>{"dir", "empty", "fifo", "hello", "link"}));
  // The claim is in lower, and nothing else is new there.
  EXPECT_TRUE(fs::exists(lower_ + "/.cairn-claim"));
}

TEST_F(ShownTest, AFullPoolSaysSo) {
  cairn_pool* pool = nullptr;
  ASSERT_EQ(cairn_pool_attach(pool_.c_str(), 0, &pool), 0) << cairn_last_error();
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "full", O_RDWR | O_CREAT, 0600, &file), 0);
  const std::string bytes(4096, 'x');
  for (uint64_t at = 0; cairn_pwrite(file, bytes.data(), bytes.size(), at) > 0;) at += bytes.size();
  cairn_close(file);
  cairn_cover_options cover_options = {};
  cover_options.struct_size = sizeof cover_options;
  cairn_cover* cover = nullptr;
  EXPECT_EQ(cairn_cover_open(pool, lower_.c_str(), &cover_options, &cover), -ENOSPC);
  EXPECT_EQ(std::string(cairn_last_error()).find("no such cover"), std::string::npos)
      << cairn_last_error();
  EXPECT_FALSE(fs::exists(lower_ + "/.cairn-claim"));
  cairn_pool_detach(pool);
}

// Programs that were compiled before `fresh` and `launch` came give a smaller struct_size.
TEST_F(ShownTest, OptionsOfOlderProgramsAreTaken) {
  cairn_pool* pool = nullptr;
  ASSERT_EQ(cairn_pool_attach(pool_.c_str(), 0, &pool), 0) << cairn_last_error();
  cairn_cover_options given = {};
  given.struct_size = offsetof(cairn_cover_options, fresh);
  given.fresh = 1;  // beyond what that program has
  given.launch = reinterpret_cast<const char*>(1);
  cairn_cover* cover = nullptr;
  ASSERT_EQ(cairn_cover_open(pool, lower_.c_str(), &given, &cover), 0) << cairn_last_error();
  cairn_cover_close(cover);
  given.struct_size -= 1;
  EXPECT_EQ(cairn_cover_open(pool, lower_.c_str(), &given, &cover), -EINVAL);
  cairn_pool_detach(pool);
}

TEST_F(ShownTest, AFreshCoverDiscardsAnEarlierOneUnlessItIsOfTheSameLaunchOrInUse) {
  struct Left {
    int calls = 0;
    uint64_t files = 0, bytes = 0;
    bool in_use = false;
  } left;
  cairn_cover_options given = {};
  given.struct_size = sizeof given;
  given.fresh = 1;
  given.context = &left;
  given.left = [](void* context, const cairn_cover_info* info) {
    const int calls = static_cast<Left*>(context)->calls + 1;
    *static_cast<Left*>(context) = {calls, info->undrained_files, info->undrained_bytes,
                                    info->in_use != 0};
  };
  // The names that a cover of this launch shows.
  const auto open = [&](cairn_pool* pool, const char* launch) {
    given.launch = launch;
    cairn_cover* cover = nullptr;
    EXPECT_EQ(cairn_cover_open(pool, lower_.c_str(), &given, &cover), 0) << cairn_last_error();
    cairn_stat st = {};
    const bool there = cairn_lookup(pool, cairn_cover_top(cover), "made", 0, &st) == 0;
    cairn_cover_close(cover);
    return there;
  };
  cairn_pool* pool = nullptr;
  {
    Covered covered(pool_, lower_);
    ASSERT_EQ(covered.create("made", "12345"), 0);
    EXPECT_TRUE(open(covered.pool, "first"));  // somebody is in it
    EXPECT_EQ(left.calls, 1);
    EXPECT_TRUE(left.in_use);
  }
  ASSERT_EQ(cairn_pool_attach(pool_.c_str(), 0, &pool), 0) << cairn_last_error();
  EXPECT_TRUE(open(pool, "first"));  // what the same launch left
  EXPECT_EQ(left.calls, 1);
  EXPECT_FALSE(open(pool, "second"));
  EXPECT_EQ(left.calls, 2);
  EXPECT_FALSE(left.in_use);
  EXPECT_EQ(left.files, 1U);
  EXPECT_EQ(left.bytes, 5U);
  EXPECT_TRUE(fs::exists(lower_ + "/.cairn-claim"));
  EXPECT_EQ(get(lower_ + "/hello"), "hello, world\n");
  cairn_pool_detach(pool);
}

TEST_F(ShownTest, DirectoriesThatWereNotEnteredCountTheirSubdirectories) {
  for (const char* name : {"/dir/one", "/dir/two", "/dir/two/inner"})
    fs::create_directory(lower_ + name);
  const auto links_below = [](const std::string& path) {
    struct stat st = {};
    return ::stat(path.c_str(), &st) == 0 ? st.st_nlink : 0;
  };
  Covered covered(pool_, lower_);
  ASSERT_NE(covered.cover, nullptr);
  for (int round = 0; round < 2; ++round) {
    for (const std::string name : {"dir/two/inner", "dir/two", "dir", "."})
      EXPECT_EQ(covered.stat(name).nlink, links_below(lower_ + "/" + name)) << name << round;
    covered.list("dir/two/inner");
  }
  ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, "dir/three", 0755), 0) << cairn_last_error();
  ASSERT_EQ(cairn_rmdir(covered.pool, covered.top, "dir/one"), 0) << cairn_last_error();
  ASSERT_EQ(cairn_rmdir(covered.pool, covered.top, "dir/two/inner"), 0) << cairn_last_error();
  EXPECT_EQ(covered.stat("dir").nlink, links_below(lower_ + "/dir"));
  EXPECT_EQ(covered.stat("dir/two").nlink, 2U);
}

// Who empties a file by its number may find another one under it by then.
TEST_F(ShownTest, AFileThatGotTheNumberOfAnEmptiedOneKeepsItsBytes) {
  Covered covered(pool_, lower_);
  const cairn_stat a = covered.stat("dir/a");
  file::Lower& lower = *covered.pool->lower;
  EXPECT_EQ(lower.discard(a.ino, a.generation + 1).code(), ESTALE);
  EXPECT_EQ(covered.stat("dir/a").flags & CAIRN_FILE_LAZY, CAIRN_FILE_LAZY);
  EXPECT_EQ(covered.read("dir/a"), std::string(300000, 'a'));
  EXPECT_EQ(lower.discard(a.ino, a.generation).code(), 0);
  EXPECT_EQ(covered.stat("dir/a").size, 0U);
}

TEST_F(ShownTest, AWriteStagesTheFileAndLeavesLowerAlone) {
  // Old enough that a change is seen, whatever the clock's tick.
  fs::last_write_time(lower_ + "/dir/a", fs::file_time_type::clock::now() - std::chrono::hours(1));
  Covered covered(pool_, lower_);
  const cairn_stat before = covered.stat("dir/a");
  ASSERT_EQ(covered.write("dir/a", "XYZ", 100000), 0) << cairn_last_error();
  std::string expected(300000, 'a');
  expected.replace(100000, 3, "XYZ");
  EXPECT_EQ(covered.read("dir/a"), expected);
  EXPECT_EQ(covered.stat("dir/a").flags & CAIRN_FILE_LAZY, 0u);
  EXPECT_EQ(covered.stat("dir/a").size, 300000u);
  EXPECT_GT(covered.stat("dir/a").mtime_ns, before.mtime_ns);
  EXPECT_EQ(get(lower_ + "/dir/a"), std::string(300000, 'a'));
}

TEST_F(ShownTest, StagingKeepsTheTimes) {
  Covered covered(pool_, lower_);
  const cairn_stat before = covered.stat("hello");
  ASSERT_EQ(cairn_rename(covered.pool, covered.top, "hello", covered.top, "moved", 0), 0)
      << cairn_last_error();
  EXPECT_EQ(covered.read("moved"), "hello, world\n");
  EXPECT_EQ(covered.stat("moved").mtime_ns, before.mtime_ns);
  EXPECT_EQ(covered.read("hello"), "(error No such file or directory)");
}

TEST_F(ShownTest, TruncatingToNothingDoesNotReadLower) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.list("dir").size(), 2u);
  fs::remove(lower_ + "/dir/a");  // nobody will miss it
  ASSERT_EQ(covered.create("dir/a", "new"), 0) << cairn_last_error();
  EXPECT_EQ(covered.read("dir/a"), "new");
}

TEST_F(ShownTest, TruncatingToAPartKeepsThatPart) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(cairn_truncate(covered.pool, covered.stat("dir/a").ino, 0, 5), 0) << cairn_last_error();
  EXPECT_EQ(covered.read("dir/a"), "aaaaa");
}

TEST_F(ShownTest, RemovedNamesStayRemoved) {
  {
    Covered covered(pool_, lower_);
    ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "hello"), 0);
    ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "dir/deep/b"), 0);
    ASSERT_EQ(cairn_rmdir(covered.pool, covered.top, "dir/deep"), 0) << cairn_last_error();
    EXPECT_EQ(covered.list("dir"), std::vector<std::string>{"a"});
  }
  Covered again(pool_, lower_);
  EXPECT_EQ(again.read("hello"), "(error No such file or directory)");
  EXPECT_EQ(again.list("dir"), std::vector<std::string>{"a"});
  ASSERT_EQ(again.create("hello", "another"), 0) << cairn_last_error();
  EXPECT_EQ(again.read("hello"), "another");
  EXPECT_EQ(get(lower_ + "/hello"), "hello, world\n");
}

TEST_F(ShownTest, ADirectoryMovesWithAllThatLiesInLower) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(cairn_rename(covered.pool, covered.top, "dir", covered.top, "moved", 0), 0)
      << cairn_last_error();
  EXPECT_EQ(covered.read("moved/deep/b"), "bbb");
  EXPECT_EQ(covered.read("moved/a"), std::string(300000, 'a'));
  EXPECT_EQ(covered.read("dir/a"), "(error No such file or directory)");
}

TEST_F(ShownTest, AFileThatChangedBehindOurBackIsRefused) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.list("dir").size(), 2u);
  put(lower_ + "/dir/a", "changed");
  EXPECT_EQ(covered.read("dir/a"), "(error Stale file handle)");
  EXPECT_NE(std::string(cairn_last_error()).find(lower_ + "/dir/a"), std::string::npos)
      << cairn_last_error();
  EXPECT_EQ(covered.write("dir/a", "x"), -ESTALE);
}

TEST_F(ShownTest, SparseFilesStaySparseWhenStaged) {
  const int fd = open((lower_ + "/sparse").c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_EQ(pwrite(fd, "end", 3, (100 << 20) - 3), 3);
  close(fd);
  Covered covered(pool_, lower_);  // a pool of 64 MiB
  ASSERT_EQ(covered.write("sparse", "begin"), 0) << cairn_last_error();
  EXPECT_LT(covered.stat("sparse").blocks, 100u);
  EXPECT_EQ(covered.stat("sparse").size, 100u << 20);
}

TEST_F(ShownTest, WhatDoesNotFitIsToldAndNothingIsLost) {
  put(lower_ + "/large", std::string(80 << 20, 'l'));
  Covered covered(pool_, lower_);
  EXPECT_EQ(covered.write("large", "x"), -ENOSPC);
  EXPECT_NE(std::string(cairn_last_error()).find("do not fit"), std::string::npos)
      << cairn_last_error();
  EXPECT_EQ(covered.read("large").size(), size_t{80} << 20);
  EXPECT_EQ(covered.stat("large").flags & CAIRN_FILE_LAZY, CAIRN_FILE_LAZY);
}

}  // namespace
}  // namespace cairn::test
