// The drain mode of files and directories: user.cairn.drain.
#include <fcntl.h>
#include <sys/xattr.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "cairn/tier.h"
#include "capi/core/handles.h"
#include "tier/evict_fixture.h"

namespace cairn::test {
namespace {

class DrainModeTest : public EvictTest {
 protected:
  void SetUp() override {
    put_some_files();
    if (setxattr(lower_.c_str(), "user.probe", "1", 1, 0) != 0)
      GTEST_SKIP() << lower_ << ": no user attributes here";
    removexattr(lower_.c_str(), "user.probe");
  }
  void make_directory(const std::string& name, cairn_drain_mode mode) {
    ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, name.c_str(), 0755), 0);
    set(name, mode);
  }
  void set(const std::string& name, cairn_drain_mode mode) {
    EXPECT_EQ(cairn_tier_set_mode(covered->cover, name.c_str(), mode), 0) << cairn_last_error();
  }
  int get_mode(const std::string& name) {
    return cairn_tier_get_mode(covered->cover, name.c_str(), nullptr);
  }
  // As the keeper of a cover with this mode does it.
  void drain_meanwhile(cairn_drain_mode mode, bool at_end = false) {
    cairn_while_running rule = {};
    rule.struct_size = sizeof rule;
    rule.open_too = 1;
    rule.mode = mode;
    rule.at_end = at_end ? 1 : 0;
    cairn_drain_report report = {};
    EXPECT_EQ(
        cairn_cover_drain_while_running(covered->cover, &rule, nullptr, nullptr, nullptr, &report),
        0)
        << cairn_last_error();
  }
  void create(const std::string& name) {
    ASSERT_EQ(covered->create(name, "of " + name), 0) << cairn_last_error();
  }
  [[nodiscard]] bool is_in_lower(const std::string& name) const {
    return fs::exists(lower_ + "/" + name);
  }
  cairn_cover_info info() {
    cairn_cover_info found = {};
    const auto visit = [](void* context, const cairn_cover_info* seen) {
      *static_cast<cairn_cover_info*>(context) = *seen;
    };
    EXPECT_EQ(cairn_cover_list(covered->pool, visit, &found), 0) << cairn_last_error();
    return found;
  }
};

TEST_F(DrainModeTest, NeverIsNotCopiedAndCountsAsDrained) {
  start();
  make_directory("scratch", CAIRN_DRAIN_NEVER);
  make_directory("scratch/deep", CAIRN_DRAIN_INHERIT);
  create("scratch/deep/a");
  ASSERT_EQ(cairn_symlink(covered->pool, "a", covered->top, "scratch/deep/link"), 0);
  create("file");
  set("file", CAIRN_DRAIN_NEVER);
  create("kept");
  EXPECT_EQ(info().undrained_files, 1U);
  const Drained drained = covered->drain();
  EXPECT_EQ(drained.code, 0) << cairn_last_error();
  EXPECT_EQ(drained.report.files, 1U);
  EXPECT_TRUE(is_in_lower("kept"));
  EXPECT_FALSE(is_in_lower("scratch"));
  EXPECT_FALSE(is_in_lower("file"));
  EXPECT_EQ(covered->read("scratch/deep/a"), "of scratch/deep/a");
  EXPECT_EQ(info().undrained_files, 0U);
  EXPECT_EQ(info().undrained_bytes, 0U);
  EXPECT_NE(info().all_drained, 0U);
  EXPECT_EQ(cairn_tier_drain(covered->cover, "file"), -EPERM);
  EXPECT_EQ(cairn_tier_wait(covered->cover, "file", UINT32_MAX), -EPERM);
  EXPECT_EQ(cairn_tier_wait(covered->cover, nullptr, 0), 0) << cairn_last_error();
  // Once it has another mode, it is drained like any other.
  set("scratch", CAIRN_DRAIN_INHERIT);
  EXPECT_EQ(covered->drain().code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/scratch/deep/a"), "of scratch/deep/a");
  EXPECT_EQ(cairn_cover_end(covered->cover), 0) << cairn_last_error();
  covered->cover = nullptr;
  EXPECT_FALSE(is_in_lower("file"));
}

// What lower has of such a file stays as it is.
TEST_F(DrainModeTest, NeverLeavesTheOldVersion) {
  start();
  ASSERT_EQ(covered->write("dir/a", "changed"), 0);
  set("dir/a", CAIRN_DRAIN_NEVER);
  ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/dir/a").substr(0, 4), "aaaa");
  EXPECT_EQ(covered->read("dir/a").substr(0, 7), "changed");
  EXPECT_NE(info().all_drained, 0U);
}

TEST_F(DrainModeTest, AFilesOwnModeWins) {
  start();
  make_directory("scratch", CAIRN_DRAIN_NEVER);
  create("scratch/lost");
  create("scratch/result");
  set("scratch/result", CAIRN_DRAIN_EXIT);
  ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/scratch/result"), "of scratch/result");
  EXPECT_FALSE(is_in_lower("scratch/lost"));
  EXPECT_NE(info().all_drained, 0U);
}

// A move out of lower's sight would lose what lower had.
TEST_F(DrainModeTest, WhatWasMovedThereIsDrained) {
  start();
  make_directory("scratch", CAIRN_DRAIN_NEVER);
  ASSERT_EQ(cairn_rename(covered->pool, covered->top, "dir/a", covered->top, "scratch/a", 0), 0);
  ASSERT_EQ(cairn_rename(covered->pool, covered->top, "dir/deep", covered->top, "scratch/deep", 0),
            0);
  create("scratch/new");
  ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  EXPECT_EQ(fs::file_size(lower_ + "/scratch/a"), 300000U);
  EXPECT_TRUE(is_in_lower("scratch/deep/b"));
  EXPECT_FALSE(is_in_lower("scratch/new"));
  EXPECT_FALSE(is_in_lower("dir/a"));
  EXPECT_NE(info().all_drained, 0U);
}

TEST_F(DrainModeTest, OnlyWhatHasAModeGoesWhileARunOfModeExitGoesOn) {
  start();
  make_directory("out", CAIRN_DRAIN_CLOSE);
  make_directory("plain", CAIRN_DRAIN_INHERIT);
  make_directory("plain/deep", CAIRN_DRAIN_INHERIT);
  create("out/a");
  create("out/later");
  set("out/later", CAIRN_DRAIN_EXIT);
  create("out/never");
  set("out/never", CAIRN_DRAIN_NEVER);
  create("plain/deep/own");
  set("plain/deep/own", CAIRN_DRAIN_ASYNC);
  create("plain/b");
  make_directory("empty", CAIRN_DRAIN_INHERIT);
  ASSERT_EQ(cairn_symlink(covered->pool, "out/a", covered->top, "new-link"), 0);
  ASSERT_EQ(cairn_chmod(covered->pool, covered->stat("dir/a").ino, 0, 0600), 0);
  ASSERT_EQ(cairn_unlink(covered->pool, covered->top, "hello"), 0);
  drain_meanwhile(CAIRN_DRAIN_EXIT);
  EXPECT_EQ(get(lower_ + "/out/a"), "of out/a");
  EXPECT_EQ(get(lower_ + "/plain/deep/own"), "of plain/deep/own");
  for (const char* name : {"out/later", "out/never", "plain/b", "empty", "new-link"})
    EXPECT_FALSE(is_in_lower(name)) << name;
  EXPECT_TRUE(is_in_lower("hello"));
  EXPECT_EQ(fs::status(lower_ + "/dir/a").permissions(), fs::perms(0644));
  EXPECT_EQ(info().modes, 1U << CAIRN_DRAIN_EXIT | 1U << CAIRN_DRAIN_CLOSE |
                              1U << CAIRN_DRAIN_ASYNC | 1U << CAIRN_DRAIN_NEVER);
  ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  for (const char* name : {"out/later", "plain/b", "empty", "new-link"})
    EXPECT_TRUE(is_in_lower(name)) << name;
  EXPECT_FALSE(is_in_lower("out/never"));
  EXPECT_FALSE(is_in_lower("hello"));
  EXPECT_NE(info().all_drained, 0U);
}

TEST_F(DrainModeTest, OpenFilesGoInModeAsyncOnly) {
  start();
  make_directory("async", CAIRN_DRAIN_ASYNC);
  cairn_file* first = open("async/log", O_WRONLY | O_CREAT);
  cairn_file* second = open("log", O_WRONLY | O_CREAT);
  ASSERT_EQ(cairn_write(first, "bytes", 5), 5);
  ASSERT_EQ(cairn_write(second, "bytes", 5), 5);
  drain_meanwhile(CAIRN_DRAIN_CLOSE);
  EXPECT_TRUE(is_in_lower("async/log"));
  EXPECT_FALSE(is_in_lower("log"));
  ASSERT_EQ(cairn_close(first), 0);
  ASSERT_EQ(cairn_close(second), 0);
  drain_meanwhile(CAIRN_DRAIN_CLOSE);
  EXPECT_TRUE(is_in_lower("log"));
}

// A cover whose data are kept: its end drains what asks for it, and nothing else.
TEST_F(DrainModeTest, TheEndOfARunOfModeNever) {
  start();
  make_directory("out", CAIRN_DRAIN_EXIT);
  create("out/a");
  create("stays");
  drain_meanwhile(CAIRN_DRAIN_NEVER);
  EXPECT_FALSE(is_in_lower("out/a"));
  drain_meanwhile(CAIRN_DRAIN_NEVER, true);
  EXPECT_TRUE(is_in_lower("out/a"));
  EXPECT_FALSE(is_in_lower("stays"));
  EXPECT_EQ(info().undrained_files, 1U);
}

// What a full pool may evict of a file with mode never: nothing that lower does not have.
TEST_F(DrainModeTest, OnlyWhatIsInLowerIsEvicted) {
  start();
  make_directory("scratch", CAIRN_DRAIN_NEVER);
  ASSERT_EQ(covered->create("scratch/file", bytes_), 0);
  ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  expect_kept("scratch/file", EBUSY);
  set("dir", CAIRN_DRAIN_NEVER);
  ASSERT_EQ(cairn_tier_stage(covered->cover, "dir/a"), 0) << cairn_last_error();
  expect_evicted("dir/a");
  EXPECT_EQ(covered->read("dir/a").size(), 300000U);
}

TEST_F(DrainModeTest, ModesInLowerCount) {
  ASSERT_EQ(setxattr((lower_ + "/dir").c_str(), "user.cairn.drain", "never", 5, 0), 0);
  ASSERT_EQ(setxattr((lower_ + "/hello").c_str(), "user.cairn.drain", "nonsense", 8, 0), 0);
  start();
  EXPECT_EQ(get_mode("dir/a"), CAIRN_DRAIN_NEVER);
  EXPECT_EQ(get_mode("hello"), CAIRN_DRAIN_INHERIT);
  create("dir/new");
  ASSERT_EQ(covered->write("hello", "J"), 0);
  // And go back there.
  make_directory("other", CAIRN_DRAIN_CLOSE);
  ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  EXPECT_FALSE(is_in_lower("dir/new"));
  EXPECT_EQ(get(lower_ + "/hello").substr(0, 1), "J");
  char value[16] = "";
  EXPECT_EQ(getxattr((lower_ + "/other").c_str(), "user.cairn.drain", value, sizeof value), 5);
  EXPECT_STREQ(value, "close");
}

// Whoever can write to a file or directory in lower can set its mode.
TEST_F(DrainModeTest, OthersWhoCanWriteThereKeepNothingOut) {
  for (const auto& [name, mode] : {std::pair{"/group", 0770U}, std::pair{"/all", 0707U}}) {
    fs::create_directories(lower_ + name);
    ASSERT_EQ(chmod((lower_ + name).c_str(), mode), 0);
    ASSERT_EQ(setxattr((lower_ + name).c_str(), "user.cairn.drain", "never", 5, 0), 0);
  }
  ASSERT_EQ(chmod((lower_ + "/hello").c_str(), 0660), 0);
  ASSERT_EQ(setxattr((lower_ + "/hello").c_str(), "user.cairn.drain", "never", 5, 0), 0);
  start();
  create("group/new");
  create("all/new");
  ASSERT_EQ(covered->write("hello", "J"), 0);
  EXPECT_EQ(info().left_out, 0U);
  ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  EXPECT_TRUE(is_in_lower("group/new"));
  EXPECT_TRUE(is_in_lower("all/new"));
  EXPECT_EQ(get(lower_ + "/hello").substr(0, 1), "J");
  // What the run sets itself counts. The new file does not get the mode of the old one: it would
  // count there as soon as the file is closed to others.
  ASSERT_EQ(cairn_tier_set_mode(covered->cover, "group", CAIRN_DRAIN_NEVER), 0)
      << cairn_last_error();
  create("group/more");
  EXPECT_EQ(info().left_out, 1U);
  char value[16] = "";
  EXPECT_EQ(getxattr((lower_ + "/hello").c_str(), "user.cairn.drain", value, sizeof value), -1);
}

// Files that are kept out of lower are lost with the pool, so only the user and root keep them out.
TEST_F(DrainModeTest, OthersKeepNothingOut) {
  for (const char* name : {"/dir", "/mine"}) {
    fs::create_directories(lower_ + name);
    ASSERT_EQ(setxattr((lower_ + name).c_str(), "user.cairn.drain", "never", 5, 0), 0);
  }
  start();
  EXPECT_EQ(get_mode("dir"), CAIRN_DRAIN_NEVER);
  create("dir/new");
  create("mine/new");
  EXPECT_EQ(info().left_out, 2U);
  EXPECT_EQ(info().kept_back, 2U);
  EXPECT_EQ(info().undrained_files, 0U);
  // As if the directory of lower were another user's.
  auto& files = capi::fs_of(covered->pool);
  const auto inode = file::live_inode(files, covered->stat("dir").ino);
  ASSERT_TRUE(inode.ok());
  constexpr uint64_t other = 4711;
  files.pool.store((*inode)->owner, other);
  EXPECT_EQ(get_mode("dir"), CAIRN_DRAIN_INHERIT);
  EXPECT_EQ(get_mode("mine"), CAIRN_DRAIN_NEVER);
  EXPECT_EQ(info().left_out, 1U);
  EXPECT_EQ(info().kept_back, 1U);
  set("mine", CAIRN_DRAIN_NEVER);  // as the program wants it
  EXPECT_EQ(info().left_out, 1U);
  EXPECT_EQ(info().kept_back, 0U);
  EXPECT_EQ(info().undrained_files, 1U);
}

TEST_F(DrainModeTest, OtherValuesAreRefused) {
  start();
  const cairn_stat st = covered->stat("hello");
  const auto set_text = [&](const std::string& text) {
    return cairn_setxattr(covered->pool, st.ino, st.generation, CAIRN_DRAIN_ATTRIBUTE, text.data(),
                          text.size(), 0);
  };
  EXPECT_EQ(set_text("asinc"), -EINVAL);
  EXPECT_STREQ(cairn_last_error(),
               "user.cairn.drain: invalid drain mode 'asinc': expected exit, close, async or "
               "never; did you mean async?");
  EXPECT_EQ(set_text("neve"), -EINVAL);
  EXPECT_NE(std::string(cairn_last_error()).find("did you mean never?"), std::string::npos);
  for (const std::string& text : {std::string(), std::string("close\0", 6), std::string("EXIT"),
                                  std::string("close\n"), std::string(3000, 'x')}) {
    EXPECT_EQ(set_text(text), -EINVAL) << text;
    EXPECT_EQ(std::string(cairn_last_error()).find('\n'), std::string::npos);
  }
  EXPECT_EQ(get_mode("hello"), CAIRN_DRAIN_INHERIT);
  EXPECT_EQ(set_text("close"), 0) << cairn_last_error();
  EXPECT_EQ(get_mode("hello"), CAIRN_DRAIN_CLOSE);
}

TEST_F(DrainModeTest, TheCalls) {
  start();
  EXPECT_EQ(get_mode("."), CAIRN_DRAIN_INHERIT);
  set(".", CAIRN_DRAIN_CLOSE);
  set("dir", CAIRN_DRAIN_ASYNC);
  EXPECT_EQ(get_mode("hello"), CAIRN_DRAIN_CLOSE);
  EXPECT_EQ(get_mode("dir/deep/b"), CAIRN_DRAIN_ASYNC);
  set("dir/deep/b", CAIRN_DRAIN_NEVER);
  EXPECT_EQ(get_mode("dir/deep/b"), CAIRN_DRAIN_NEVER);
  cairn_drain_mode own = CAIRN_DRAIN_EXIT;
  EXPECT_EQ(cairn_tier_get_mode(covered->cover, "dir/deep", &own), CAIRN_DRAIN_ASYNC);
  EXPECT_EQ(own, CAIRN_DRAIN_INHERIT);
  EXPECT_EQ(cairn_tier_get_mode(covered->cover, "dir", &own), CAIRN_DRAIN_ASYNC);
  EXPECT_EQ(own, CAIRN_DRAIN_ASYNC);
  set("dir", CAIRN_DRAIN_INHERIT);
  set("dir", CAIRN_DRAIN_INHERIT);
  EXPECT_EQ(get_mode("dir"), CAIRN_DRAIN_CLOSE);
  EXPECT_EQ(cairn_tier_set_mode(covered->cover, "dir", static_cast<cairn_drain_mode>(5)), -EINVAL);
  EXPECT_EQ(cairn_tier_set_mode(covered->cover, "missing", CAIRN_DRAIN_EXIT), -ENOENT);
  EXPECT_EQ(cairn_tier_get_mode(covered->cover, "missing", nullptr), -ENOENT);
}

}  // namespace
}  // namespace cairn::test
