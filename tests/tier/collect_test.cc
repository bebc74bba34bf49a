// Files that several nodes write, put together in lower out of parts.
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>  // RENAME_EXCHANGE too

#include "cairn/adapter/shared.h"
#include "capi/core/handles.h"
#include "cluster/collect/collect_file.h"
#include "cluster/record/record.h"
#include "file/data/io.h"
#include "tier/collect_fixture.h"
#include "tier/cover_fixture.h"
#include "tier/lower_calls.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"
#include "tier/record/records_directory.h"
#include "tier/system/pool_file.h"

namespace cairn::test {
namespace {

TEST_F(CollectTest, TheLastNodeGivesTheFileItsName) {
  const std::string text = make_striped("deep/er/file");
  EXPECT_EQ(parts_in(pool_), 1U);
  const Drained first = drain(pool_);
  EXPECT_EQ(first.code, -EAGAIN);
  EXPECT_EQ(first.report.waiting, 1U);
  EXPECT_EQ(first.report.bytes, 10 * stripe);
  EXPECT_TRUE(tells(first, lower_ + "/deep/er/file: waiting for node node-1 (pool " + other_ +
                               "): run `cairn drain " + lower_ + "` there"))
      << first.problems.front();
  EXPECT_FALSE(fs::exists(lower_ + "/deep/er/file"));
  EXPECT_EQ(parts_in(pool_), 1U) << "the file is not whole yet";
  // Asked again, it has nothing to write.
  EXPECT_EQ(drain(pool_).report.bytes, 0U);
  const Drained second = drain(other_);
  EXPECT_EQ(second.code, 0) << last_detail();
  EXPECT_EQ(second.report.files, 1U);
  EXPECT_EQ(get(lower_ + "/deep/er/file"), text);
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/deep/er/file").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode, S_IFREG | 0640U);
  EXPECT_EQ(st.st_mtim.tv_sec, 1'600'000'000);
  EXPECT_EQ(st.st_mtim.tv_nsec, 123'456'789);
  EXPECT_EQ(st.st_nlink, 1U);
  EXPECT_EQ(drain(pool_).code, 0);
  expect_nothing_left();
}

TEST_F(CollectTest, OfOverlappingPiecesTheLaterCounts) {
  Record record = new_record(3 * stripe);
  {
    Covered first(pool_, lower_);
    Covered second(other_, lower_);
    hold(first, "node-0", &record, std::string(3 * stripe, 'a'), {0, 3 * stripe, 0, 1});
    hold(second, "node-1", &record, std::string(2 * stripe, 'b'), {stripe, stripe, 0, 1});
    hold(first, "node-0", &record, std::string(2 * stripe, 'c'), {stripe, 10, 0, 1});
    ASSERT_TRUE(cluster::write_record(lower_, "file", record, true).ok());
  }
  EXPECT_EQ(drain(other_).code, -EAGAIN);
  EXPECT_EQ(drain(pool_).code, 0);
  EXPECT_EQ(get(lower_ + "/file"), std::string(stripe, 'a') + std::string(10, 'c') +
                                       std::string(stripe - 10, 'b') + std::string(stripe, 'a'));
}

TEST_F(CollectTest, WhatNobodyWroteComesFromTheBaseFileOrIsZero) {
  put(lower_ + "/file", std::string(10 * stripe, 'o'));
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/file").c_str(), &st), 0);
  Record record = new_record(12 * stripe);
  // Cut to four stripes in between, and grown again.
  record.base = {true, st.st_ino, static_cast<uint64_t>(st.st_size),
                 static_cast<uint64_t>(st.st_mtim.tv_sec) * 1'000'000'000 +
                     static_cast<uint64_t>(st.st_mtim.tv_nsec),
                 4 * stripe};
  {
    Covered first(pool_, lower_);
    Covered second(other_, lower_);
    hold(first, "node-0", &record, std::string(12 * stripe, 'a'), {8 * stripe, stripe, 0, 1});
    hold(second, "node-1", &record, std::string(12 * stripe, 'b'), {stripe, stripe, 0, 1});
    ASSERT_TRUE(cluster::write_record(lower_, "file", record, true).ok());
  }
  EXPECT_EQ(drain(other_).code, -EAGAIN);
  EXPECT_EQ(drain(pool_).code, 0);
  std::string expected(12 * stripe, '\0');
  expected.replace(0, 4 * stripe, 4 * stripe, 'o');
  expected.replace(stripe, stripe, stripe, 'b');
  expected.replace(8 * stripe, stripe, stripe, 'a');
  EXPECT_EQ(get(lower_ + "/file"), expected);
  EXPECT_EQ(drain(other_).code, 0);
  expect_nothing_left();
}

TEST_F(CollectTest, ABaseFileThatChangedIsKept) {
  put(lower_ + "/file", "old");
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/file").c_str(), &st), 0);
  Record record = new_record(2 * stripe);
  record.base = {true, st.st_ino, 3, 0, 3};  // of another time
  {
    Covered first(pool_, lower_);
    hold(first, "node-0", &record, std::string(2 * stripe, 'a'), {0, 2 * stripe, 0, 1});
    ASSERT_TRUE(cluster::write_record(lower_, "file", record, true).ok());
  }
  const Drained drained = drain(pool_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_EQ(drained.report.conflicts, 1U);
  EXPECT_TRUE(tells(drained, lower_ + "/file: changed there outside Cairn; both are kept"));
  EXPECT_EQ(get(lower_ + "/file"), "old");
  EXPECT_EQ(parts_in(pool_), 1U);
  // Whoever wants the pools' version moves the other one away.
  fs::rename(lower_ + "/file", lower_ + "/moved");
  EXPECT_EQ(drain(pool_).code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/file"), std::string(2 * stripe, 'a'));
  EXPECT_EQ(get(lower_ + "/moved"), "old");
  EXPECT_EQ(parts_in(pool_), 0U);
}

TEST_F(CollectTest, AFileMadeUnderItsNameMeanwhileIsKept) {
  make_striped("file");
  put(lower_ + "/file", "somebody's");
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  const Drained drained = drain(other_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, "created there outside Cairn; both are kept"));
  EXPECT_EQ(get(lower_ + "/file"), "somebody's");
  EXPECT_EQ(parts_in(pool_) + parts_in(other_), 2U);
}

TEST_F(CollectTest, AFileOfHolesOnlyIsThereToo) {
  ASSERT_TRUE(cluster::write_record(lower_, "holes", new_record(1ULL << 40), true).ok());
  { const Covered first(pool_, lower_); }
  EXPECT_EQ(drain(pool_).code, 0) << cairn_last_error();
  EXPECT_EQ(fs::file_size(lower_ + "/holes"), 1ULL << 40);
  expect_nothing_left();
}

TEST_F(CollectTest, ManyBytesBehindALargeHole) {
  constexpr uint64_t far = 1ULL << 40;
  Record record = new_record(far + 5);
  {
    Covered first(pool_, lower_);
    const std::string text = "bytes";
    auto& pool = capi::fs_of(first.pool);
    auto inode = tier::find_part(pool, tier::cover_name(cairn_cover_path(first.cover)),
                                 cluster::hex_of(record.uuid), true);
    ASSERT_TRUE(inode.ok());
    tier::PoolFile part(pool, *inode, O_WRONLY);
    ASSERT_TRUE(file::write_at(*part, text.data(), 5, far).ok());
    record.map.add({far, 5, 0, 1}, record.node_of({cluster::uuid_of(pool), "node-0", pool_}));
    ASSERT_TRUE(cluster::write_record(lower_, "file", record, true).ok());
  }
  EXPECT_EQ(drain(pool_).code, 0) << cairn_last_error();
  char bytes[6] = {};
  const int fd = open((lower_ + "/file").c_str(), O_RDONLY);
  EXPECT_EQ(pread(fd, bytes, 6, far), 5);
  close(fd);
  EXPECT_STREQ(bytes, "bytes");
}

TEST_F(CollectTest, APartThatIsGoneIsAnError) {
  make_striped("file");
  Record record = new_record(10);
  {
    Covered first(pool_, lower_);
    record.map.add({0, 10, 0, 1},
                   record.node_of({cluster::uuid_of(capi::fs_of(first.pool)), "node-0", pool_}));
    ASSERT_TRUE(cluster::write_record(lower_, "file", record, false).ok());
  }
  const Drained drained = drain(pool_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, lower_ + "/file: the part of it that pool " + pool_));
  EXPECT_FALSE(fs::exists(lower_ + "/file"));
}

TEST_F(CollectTest, ANewEpochBeginsAnew) {
  make_striped("file");
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  // Written again, in another job.
  const std::string text(stripe, 'z');
  auto record = cluster::read_record(lower_, "file");
  ASSERT_TRUE(record.ok());
  ++record->epoch;
  record->size = stripe;
  {
    Covered first(pool_, lower_);
    hold(first, "node-0", &*record, text, {0, stripe, 0, 1});
  }
  ASSERT_TRUE(cluster::write_record(lower_, "file", *record, false).ok());
  EXPECT_EQ(drain(other_).code, 0) << cairn_last_error();  // it holds none of the bytes that count
  EXPECT_EQ(parts_in(other_), 0U);
  EXPECT_EQ(drain(pool_).code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/file"), text);
  expect_nothing_left();
}

TEST_F(CollectTest, NothingIsCollectedWhileAProcessMayWrite) {
  make_striped("file");
  {
    const Covered writer(pool_, lower_, true);
    const Drained drained = drain(pool_);
    EXPECT_EQ(drained.code, -EAGAIN);
    EXPECT_EQ(drained.report.waiting, 1U);
    EXPECT_EQ(drained.report.bytes, 0U);
  }
  EXPECT_EQ(drain(pool_).report.bytes, 10 * stripe);
}

// Its directory is in the pool only: the drain makes it before.
TEST_F(CollectTest, ADirectoryOfThePoolIsMadeFirst) {
  {
    Covered first(pool_, lower_);
    ASSERT_EQ(cairn_mkdir(first.pool, first.top, "made", 0711), 0);
  }
  const std::string text = make_striped("made/file");
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_EQ(get(lower_ + "/made/file"), text);
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/made").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0711U);
}

// The drain refuses it; what several nodes wrote is not put into it either.
TEST_F(CollectTest, ADirectoryThatOthersMadeMeanwhileGetsNoFile) {
  {
    Covered first(pool_, lower_);
    ASSERT_EQ(cairn_mkdir(first.pool, first.top, "run", 0700), 0);
    Record record = new_record(3);
    hold(first, "node-0", &record, "abc", {0, 3, 0, 1});
    ASSERT_TRUE(cluster::write_record(lower_, "run/file", record, true).ok());
  }
  fs::create_directories(lower_ + "/run");
  put(lower_ + "/run/theirs", "theirs");
  ASSERT_EQ(chmod((lower_ + "/run").c_str(), 0777), 0);
  if (geteuid() != 0) GTEST_SKIP() << "only root can play another user";
  ASSERT_EQ(chown((lower_ + "/run").c_str(), 61002, 61002), 0);
  const Drained drained = drain(pool_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, lower_ + "/run: a directory of user 61002")) << text_of(drained);
  EXPECT_FALSE(fs::exists(lower_ + "/run/file"));
  EXPECT_EQ(parts_in(pool_), 1U);
  fs::rename(lower_ + "/run", lower_ + "/moved");
  ASSERT_NO_FATAL_FAILURE(expect_drained(pool_));
  EXPECT_EQ(get(lower_ + "/run/file"), "abc");
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/run").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700U);
}

// The pool has seen it there, so it may be anybody's; but it must be that one.
TEST_F(CollectTest, ADirectoryThatThePoolKnowsIsComparedWithIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can play another user";
  fs::create_directories(lower_ + "/run");
  ASSERT_EQ(chown((lower_ + "/run").c_str(), 61002, 61002), 0);
  for (const bool same : {false, true}) {
    SCOPED_TRACE(same);
    {
      Covered first(pool_, lower_);
      ASSERT_EQ(first.list("run"), std::vector<std::string>());
      Record record = new_record(3);
      hold(first, "node-0", &record, "abc", {0, 3, 0, 1});
      ASSERT_TRUE(cluster::write_record(lower_, "run/file", record, false).ok());
    }
    if (same) {
      ASSERT_NO_FATAL_FAILURE(expect_drained(pool_));
      EXPECT_EQ(get(lower_ + "/run/file"), "abc");
      continue;
    }
    fs::rename(lower_ + "/run", lower_ + "/moved");
    fs::create_directories(lower_ + "/run");
    const Drained drained = drain(pool_);
    EXPECT_EQ(drained.code, -EIO) << text_of(drained);
    EXPECT_TRUE(fs::is_empty(lower_ + "/run"));
    EXPECT_EQ(parts_in(pool_), 1U);
    fs::remove(lower_ + "/run");
    fs::rename(lower_ + "/moved", lower_ + "/run");
  }
}

TEST_F(CollectTest, ADirectoryThatWasRemovedMeanwhileIsMadeAgain) {
  fs::create_directories(lower_ + "/run");
  ASSERT_EQ(chmod((lower_ + "/run").c_str(), 0700), 0);
  for (const char* path : {"run/file", "run/later"}) {
    SCOPED_TRACE(path);
    {
      Covered first(pool_, lower_);
      std::vector<std::string> there;
      if (fs::exists(lower_ + "/run/file")) there.emplace_back("file");
      ASSERT_EQ(first.list("run"), there);
      Record record = new_record(3);
      hold(first, "node-0", &record, "abc", {0, 3, 0, 1});
      ASSERT_TRUE(cluster::write_record(lower_, path, record, true).ok());
    }
    // The one that is made then is known as well.
    if (!fs::exists(lower_ + "/run/file")) fs::remove(lower_ + "/run");
    ASSERT_NO_FATAL_FAILURE(expect_drained(pool_));
    EXPECT_EQ(get(lower_ + "/" + path), "abc");
    struct stat st = {};
    ASSERT_EQ(stat((lower_ + "/run").c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0700U);
  }
}

TEST_F(CollectTest, TheRecordsAreHiddenAtTheTopOnly) {
  make_striped("file");
  fs::create_directories(lower_ + "/dir/.cairn");
  put(lower_ + "/dir/.cairn/mine", "mine");
  Covered node(pool_, lower_, true);
  const auto names = node.list(".");
  EXPECT_EQ(names, std::vector<std::string>{"dir"});
  EXPECT_EQ(node.read("dir/.cairn/mine"), "mine");
}

// Whatever call of a drain is its last one.
TEST_F(CollectTest, KilledAtEveryCallItIsFinishedByTheNext) {
  for (const bool last : {false, true}) {
    bool killed = true;
    int calls = 0;
    for (int n = 0; killed && !HasFailure(); ++n) {
      SCOPED_TRACE((last ? "last node, call " : "first node, call ") + std::to_string(n));
      const std::string path = "file" + std::to_string(n);
      const std::string text = make_striped(path, static_cast<char>('a' + n % 3));
      if (last) {
        ASSERT_EQ(drain(pool_).code, -EAGAIN);
      }
      const std::string& victim = last ? other_ : pool_;
      int seen = 0;
      killed = drain_elsewhere(victim, [&](const LowerCall&) {
                 if (seen++ == n) kill(getpid(), SIGKILL);
                 return 0;
               }) == -1;
      calls = n;
      if (fs::exists(lower_ + "/" + path)) {
        ASSERT_EQ(get(lower_ + "/" + path), text);
      } else {
        ASSERT_EQ(parts_in(pool_) + parts_in(other_), 2U);
      }
      // In either order.
      drain(n % 2 == 0 ? pool_ : other_);
      drain(n % 2 == 0 ? other_ : pool_);
      ASSERT_EQ(drain(pool_).code, 0) << cairn_last_error();
      ASSERT_EQ(drain(other_).code, 0) << cairn_last_error();
      ASSERT_EQ(get(lower_ + "/" + path), text);
      expect_nothing_left();
      fs::remove(lower_ + "/" + path);
    }
    EXPECT_GT(calls, 50) << "nothing was killed";
  }
}

// Any node may do it, and which one did is not in the record.
TEST_F(CollectTest, AFileOfHolesOnlyThatAnotherNodeWasKilledAt) {
  { const Covered first(pool_, lower_), second(other_, lower_); }
  bool killed = true;
  int calls = 0;
  for (int n = 0; killed && !HasFailure(); ++n) {
    SCOPED_TRACE("call " + std::to_string(n));
    ASSERT_TRUE(cluster::write_record(lower_, "holes", new_record(100), true).ok());
    int seen = 0;
    killed = drain_elsewhere(pool_, [&](const LowerCall&) {
               if (seen++ == n) kill(getpid(), SIGKILL);
               return 0;
             }) == -1;
    calls = n;
    EXPECT_EQ(drain(other_).code, 0) << cairn_last_error();
    EXPECT_EQ(get(lower_ + "/holes"), std::string(100, '\0'));
    EXPECT_EQ(drain(pool_).code, 0) << cairn_last_error();
    fs::remove(lower_ + "/holes");
  }
  EXPECT_GT(calls, 20) << "nothing was killed";
  expect_nothing_left();
}

TEST_F(CollectTest, WhateverCallFailsNothingIsLost) {
  bool failed = true;
  for (int n = 0; failed && !HasFailure(); ++n) {
    SCOPED_TRACE("call " + std::to_string(n));
    const std::string path = "file" + std::to_string(n);
    const std::string text = make_striped(path);
    ASSERT_EQ(drain(pool_).code, -EAGAIN);
    int seen = 0;
    int result = 0;
    {
      Covered node(other_, lower_, true);
      set_lower_hook([&](const LowerCall& call) {
        // Closing is not a thing that can fail.
        return call.number != SYS_close && seen++ == n ? EIO : 0;
      });
      result = node.drain().code;
      set_lower_hook(nullptr);
    }
    failed = seen > n;
    if (result == 0 || fs::exists(lower_ + "/" + path)) {
      ASSERT_EQ(get(lower_ + "/" + path), text);
    } else {
      ASSERT_EQ(parts_in(pool_) + parts_in(other_), 2U);
    }
    ASSERT_NO_FATAL_FAILURE(expect_drained(other_));
    ASSERT_NO_FATAL_FAILURE(expect_drained(pool_));
    ASSERT_EQ(get(lower_ + "/" + path), text);
    expect_nothing_left();
    fs::remove(lower_ + "/" + path);
  }
}

TEST_F(CollectTest, NodesThatComeAtTheSameTime) {
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    std::vector<std::string> texts;
    for (int i = 0; i < 4; ++i)
      texts.push_back(make_striped("file" + std::to_string(i), static_cast<char>('a' + i)));
    std::vector<pid_t> children;
    for (const std::string& pool : {pool_, other_}) {
      const pid_t child = fork();
      if (child == 0) {
        Drained drained = drain(pool);
        for (int i = 0; i < 1000 && drained.code == -EAGAIN; ++i) drained = drain(pool);
        if (drained.code != 0) fprintf(stderr, "%s", text_of(drained).c_str());
        _exit(-drained.code);
      }
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "round " << round;
    }
    for (int i = 0; i < 4; ++i) {
      const std::string path = lower_ + "/file" + std::to_string(i);
      ASSERT_EQ(get(path), texts[static_cast<size_t>(i)]);
      fs::remove(path);
    }
    expect_nothing_left();
  }
}

}  // namespace
}  // namespace cairn::test
