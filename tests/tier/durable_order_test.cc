// What the pool believes of lower is durable there first, and a call on lower that fails costs no
// data. A power loss of lower is played by undoing what was not synced yet, in a process that ends
// right there.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "cluster/record/record.h"
#include "tier/cover_fixture.h"
#include "tier/lower_calls.h"

namespace cairn::test {
namespace {

class DurableOrder : public CoverTest, public testing::WithParamInterface<bool> {
 protected:
  ~DurableOrder() override { set_lower_hook(nullptr); }
  // On tmpfs either way, but with stores that are made durable, or not.
  void make(bool survives_power_loss) {
    cairn_pool_options options = {};
    options.struct_size = sizeof options;
    options.size = 64 << 20;
    options.granularity = survives_power_loss ? 3 : 0;
    ASSERT_EQ(cairn_pool_create(pool_.c_str(), &options), 0) << cairn_last_error();
  }
  // Drains in a process of its own, which ends, with what `undo` makes of it, at the first fsync of
  // a directory after a call of the number `after` has been made.
  void drain_until_power_loss(long after, const std::function<void()>& undo) {
    const pid_t child = fork();
    if (child == 0) {
      Covered covered(pool_, lower_, true);
      bool armed = false;
      set_lower_hook([&](const LowerCall& call) {
        armed = armed || call.number == after;
        if (armed && call.number == SYS_fsync && is_directory(call.arguments[0])) {
          undo();
          _exit(0);
        }
        return 0;
      });
      covered.drain();
      _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "no directory was synced";
  }
  static bool tells(const Drained& drained, const std::vector<std::string>& parts) {
    for (const std::string& problem : drained.problems) {
      bool all = true;
      for (const std::string& part : parts) all = all && problem.find(part) != std::string::npos;
      if (all) return true;
    }
    return false;
  }
};

// A record in a directory that was made for it: each directory on the way to it has been synced.
TEST_F(DurableOrder, ARecordIsNotLostWithItsDirectory) {
  std::set<std::string> synced;
  set_lower_hook([&](const LowerCall& call) {
    if (call.number == SYS_fsync && is_directory(call.arguments[0])) {
      const std::string link = "/proc/self/fd/" + std::to_string(call.arguments[0]);
      synced.insert(fs::read_symlink(link).string());
    }
    return 0;
  });
  cluster::Record record;
  record.uuid = {1};
  record.mode = 0644;
  ASSERT_TRUE(cluster::write_record(lower_, "a/b/file", record, true).ok());
  set_lower_hook(nullptr);
  for (const char* below : {"", "/.cairn", "/.cairn/a", "/.cairn/a/b"})
    EXPECT_EQ(synced.count(fs::canonical(lower_).string() + below), 1U) << below;
}

TEST_F(DurableOrder, ARenameThatThePowerTookIsDoneAgain) {
  make(true);
  put(lower_ + "/file", "old");
  fs::create_hard_link(lower_ + "/file", disk_.path("kept"));
  {
    Covered covered(pool_, lower_);
    ASSERT_EQ(covered.write("file", "new"), 0);
  }
  drain_until_power_loss(SYS_renameat2, [&] { fs::rename(disk_.path("kept"), lower_ + "/file"); });
  ASSERT_EQ(get(lower_ + "/file"), "old");
  Covered covered(pool_, lower_, true);
  expect_drained(covered);
  EXPECT_EQ(get(lower_ + "/file"), "new");
}

TEST_F(DurableOrder, ARemovalThatThePowerTookIsDoneAgain) {
  make(true);
  put(lower_ + "/file", "old");
  fs::create_hard_link(lower_ + "/file", disk_.path("kept"));
  {
    Covered covered(pool_, lower_);
    ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "file"), 0);
  }
  drain_until_power_loss(SYS_unlinkat, [&] { fs::rename(disk_.path("kept"), lower_ + "/file"); });
  ASSERT_TRUE(fs::exists(lower_ + "/file"));
  Covered covered(pool_, lower_, true);
  expect_drained(covered);
  EXPECT_FALSE(fs::exists(lower_ + "/file"));
}

TEST_P(DurableOrder, ADirectoryThatCannotBeSyncedIsToldAndDrainedAgain) {
  make(GetParam());
  put(lower_ + "/gone", "g");
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.create("file", "new"), 0);
  ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, "dir", 0755), 0);
  ASSERT_EQ(covered.create("dir/below", "b"), 0);
  ASSERT_EQ(cairn_link(covered.pool, covered.top, "file", covered.top, "again", 0), 0);
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "gone"), 0);
  set_lower_hook([](const LowerCall& call) {
    return call.number == SYS_fsync && is_directory(call.arguments[0]) ? EIO : 0;
  });
  const Drained failed = covered.drain();
  set_lower_hook(nullptr);
  EXPECT_EQ(failed.code, -EIO);
  EXPECT_TRUE(tells(failed, {lower_, "fsync", strerror(EIO)}));
  const Drained again = covered.drain();
  EXPECT_EQ(again.code, 0) << cairn_last_error();
  EXPECT_GE(again.report.files, 2U) << "what may not be durable counted as drained";
  expect_drained(covered);
}

// Small files of a directory are synced at once: each before it has its name, and one that fails
// holds up no other.
TEST_P(DurableOrder, SmallFilesBecomeDurableTogether) {
  make(GetParam());
  Covered covered(pool_, lower_);
  constexpr int count = 100;  // more than are written at once
  for (int i = 0; i < count; ++i)
    ASSERT_EQ(covered.create("file" + std::to_string(i), "text " + std::to_string(i)), 0);
  std::set<ino_t> synced;
  size_t most_unnamed = 0;
  size_t named = 0;
  size_t failed_number = 0;
  set_lower_hook([&](const LowerCall& call) {
    struct stat st = {};
    if (call.number == SYS_fsync && fstat(static_cast<int>(call.arguments[0]), &st) == 0 &&
        S_ISREG(st.st_mode)) {
      if (synced.size() == 20 && failed_number++ == 0) return EIO;
      synced.insert(st.st_ino);
      most_unnamed = std::max(most_unnamed, synced.size() - named);
    }
    const auto* name = reinterpret_cast<const char*>(call.arguments[1]);
    if (call.number == SYS_renameat2 && std::strncmp(name, ".cairn-drain-", 13) == 0) {
      EXPECT_EQ(fstatat(static_cast<int>(call.arguments[0]), name, &st, AT_SYMLINK_NOFOLLOW), 0);
      EXPECT_EQ(synced.count(st.st_ino), 1U) << "named before it was durable";
      ++named;
    }
    return 0;
  });
  const Drained first = covered.drain();
  set_lower_hook(nullptr);
  EXPECT_EQ(first.code, -EIO);
  EXPECT_EQ(first.report.failed, 1U);
  EXPECT_EQ(first.report.files, count - 1U);
  EXPECT_TRUE(tells(first, {lower_ + "/file", "fsync", strerror(EIO)}));
  EXPECT_GE(most_unnamed, 60U) << "one by one";
  for (const auto& entry : fs::directory_iterator(lower_))
    EXPECT_EQ(entry.path().filename().string().rfind(".cairn-drain-", 0), std::string::npos);
  expect_drained(covered);
}

TEST_P(DurableOrder, FailedWritesSayWhereAndKeepTheData) {
  make(GetParam());
  put(lower_ + "/file", "old");
  Covered covered(pool_, lower_);
  const std::string text = std::string(3 << 20, 't') + "end";
  ASSERT_EQ(covered.create("file", text), 0);
  for (const int error : {ENOSPC, EDQUOT, EIO}) {
    set_lower_hook([error](const LowerCall& call) {
      return call.number == SYS_pwrite64 && call.arguments[3] >= 2 << 20 ? error : 0;
    });
    const Drained failed = covered.drain();
    set_lower_hook(nullptr);
    EXPECT_EQ(failed.code, error == EIO ? -EIO : -ENOSPC);
    EXPECT_TRUE(tells(failed, {lower_ + "/file", "offset 2097152", strerror(error)}))
        << (failed.problems.empty() ? "nothing" : failed.problems[0]);
    EXPECT_EQ(get(lower_ + "/file"), "old");
    EXPECT_EQ(covered.read("file"), text);
    for (const auto& entry : fs::directory_iterator(lower_))
      EXPECT_EQ(entry.path().filename().string().rfind(".cairn-drain-", 0), std::string::npos);
  }
  expect_drained(covered);
  EXPECT_EQ(get(lower_ + "/file"), text);
}

TEST_P(DurableOrder, AFileThatCannotBeSyncedIsNotPublished) {
  make(GetParam());
  put(lower_ + "/file", "old");
  put(lower_ + "/lazy", "lazy");
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.create("file", "new"), 0);
  ASSERT_EQ(cairn_chmod(covered.pool, covered.stat("lazy").ino, 0, 0600), 0);
  set_lower_hook([](const LowerCall& call) {
    return call.number == SYS_fsync && !is_directory(call.arguments[0]) ? EIO : 0;
  });
  const Drained failed = covered.drain();
  set_lower_hook(nullptr);
  EXPECT_EQ(failed.code, -EIO);
  EXPECT_TRUE(tells(failed, {lower_ + "/file", "fsync", strerror(EIO)}));
  EXPECT_TRUE(tells(failed, {lower_ + "/lazy", "fsync", strerror(EIO)}));
  EXPECT_EQ(get(lower_ + "/file"), "old");
  const Drained again = covered.drain();
  EXPECT_EQ(again.code, 0) << cairn_last_error();
  EXPECT_EQ(again.report.files, 2U);
  expect_drained(covered);
}

// A lower file that cannot be read is no shorter one.
TEST_P(DurableOrder, AFailedStagingLeavesTheFileToLower) {
  make(GetParam());
  const std::string text(3 << 20, 'l');
  put(lower_ + "/file", text);
  Covered covered(pool_, lower_);
  set_lower_hook([](const LowerCall& call) {
    return call.number == SYS_pread64 && call.arguments[3] >= 2 << 20 ? EIO : 0;
  });
  EXPECT_EQ(covered.write("file", "X"), -EIO);
  const std::string why = cairn_last_error();
  set_lower_hook(nullptr);
  EXPECT_NE(why.find(lower_ + "/file"), std::string::npos) << why;
  EXPECT_NE(why.find("offset 2097152"), std::string::npos) << why;
  EXPECT_EQ(covered.read("file"), text);
  EXPECT_EQ(covered.write("file", "X"), 0) << cairn_last_error();
  EXPECT_EQ(covered.read("file"), "X" + text.substr(1));
}

INSTANTIATE_TEST_SUITE_P(Media, DurableOrder, testing::Bool(), [](const auto& survives) {
  return survives.param ? "SurvivesPowerLoss" : "Volatile";
});

}  // namespace
}  // namespace cairn::test
