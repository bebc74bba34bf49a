// Files that were drained and then renamed: lower's file gets the new name, and no byte is written.
// What may have changed otherwise is copied.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>  // NOLINT: RENAME_EXCHANGE
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "cairn/tier.h"
#include "support/pool_stores.h"
#include "tier/evict_fixture.h"
#include "tier/lower_calls.h"

namespace cairn::test {
namespace {

class MovedTest : public EvictTest {
 protected:
  void SetUp() override {
    start(32 * mib);
    ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "dir", 0755), 0);
    make_drained("file", bytes_);
    make_drained("other", other_);
  }
  ~MovedTest() override { set_lower_hook(nullptr); }

  int move(const std::string& from, const std::string& to, unsigned flags = 0) {
    return cairn_rename(covered->pool, covered->top, from.c_str(), covered->top, to.c_str(), flags);
  }
  ino_t inode_of(const std::string& name) {
    struct stat st = {};
    return ::stat((lower_ + "/" + name).c_str(), &st) == 0 ? st.st_ino : 0;
  }
  // Drains; how many bytes were written to lower.
  uint64_t drain() {
    uint64_t written = 0;
    set_lower_hook([&written](const LowerCall& call) {
      if (call.number == SYS_pwrite64) written += static_cast<uint64_t>(call.arguments[2]);
      return 0;
    });
    const Drained drained = covered->drain();
    set_lower_hook(nullptr);
    EXPECT_EQ(drained.code, 0) << (drained.problems.empty() ? "" : drained.problems[0]);
    return written;
  }
  // Drains in mode close; how many files are left because they are open. No name is removed then.
  uint64_t drain_while_running() {
    cairn_while_running what = {};
    what.struct_size = sizeof what;
    cairn_drain_report report = {};
    EXPECT_EQ(
        cairn_cover_drain_while_running(covered->cover, &what, nullptr, nullptr, nullptr, &report),
        0)
        << cairn_last_error();
    return what.postponed_files;
  }
  // `drain()` gives lower's file its new name.
  void expect_linked(const std::string& from, const std::string& to, const std::string& bytes) {
    const ino_t before = inode_of(from);
    ASSERT_NE(before, 0U);
    ASSERT_EQ(move(from, to), 0) << cairn_last_error();
    EXPECT_EQ(drain(), 0U);
    EXPECT_EQ(inode_of(to), before);
    EXPECT_EQ(inode_of(from), 0U);
    EXPECT_TRUE(get(lower_ + "/" + to) == bytes);
    expect_drained(*covered);
    // At home there: it can go, and be read from there.
    expect_evicted(to);
    EXPECT_TRUE(covered->read(to) == bytes);
  }
  // After `change`, `drain()` writes at least its bytes.
  void expect_copied(const std::string& to, const std::string& bytes) {
    EXPECT_GE(drain(), bytes.size());
    EXPECT_TRUE(get(lower_ + "/" + to) == bytes);
    expect_drained(*covered);
  }
  const std::string other_ = pattern(2 * mib + 7, 2);
};

TEST_F(MovedTest, ToANewName) { expect_linked("file", "moved", bytes_); }

TEST_F(MovedTest, OverADrainedFile) { expect_linked("file", "other", bytes_); }

TEST_F(MovedTest, IntoAnotherDirectory) { expect_linked("file", "dir/file", bytes_); }

TEST_F(MovedTest, IntoANewDirectory) {
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "dir/new", 0755), 0);
  expect_linked("file", "dir/new/file", bytes_);
}

TEST_F(MovedTest, ThroughSeveralNames) {
  ASSERT_EQ(move("file", "a"), 0);
  ASSERT_EQ(move("a", "dir/b"), 0);
  ASSERT_EQ(move("dir/b", "c"), 0);
  const ino_t before = inode_of("file");
  EXPECT_EQ(drain(), 0U);
  EXPECT_EQ(inode_of("c"), before);
  expect_drained(*covered);
}

TEST_F(MovedTest, AgainAndAgain) {
  expect_linked("file", "dir/a", bytes_);
  expect_linked("dir/a", "b", bytes_);
  expect_linked("b", "file", bytes_);
}

TEST_F(MovedTest, BackToItsName) {
  const ino_t before = inode_of("file");
  ASSERT_EQ(move("file", "dir/away"), 0);
  ASSERT_EQ(move("dir/away", "file"), 0);
  drain();
  EXPECT_TRUE(get(lower_ + "/file") == bytes_);
  EXPECT_NE(before, 0U);
  expect_drained(*covered);
}

TEST_F(MovedTest, AnImportedFile) {
  put(lower_ + "/dir/imported", other_);
  covered.reset();
  ASSERT_EQ(cairn_pool_remove(pool_.c_str()), 0);
  fs::remove(lower_ + "/.cairn-claim");
  start();
  expect_linked("dir/imported", "imported", other_);
}

TEST_F(MovedTest, AnEvictedFile) {
  expect_evicted("file");
  expect_linked("file", "moved", bytes_);
}

// What is told of it: it is not among the files that are to be written.
TEST_F(MovedTest, CountsAsRenamed) {
  struct Told {
    uint64_t files, bytes, renamed;
    std::string oldest;
    bool all_drained;
  };
  const auto tell = [this] {
    Told told = {};
    const auto visit = [](void* context, const cairn_cover_info* info) {
      *static_cast<Told*>(context) = {info->undrained_files, info->undrained_bytes,
                                      info->renamed_files, info->oldest, info->all_drained != 0};
    };
    EXPECT_EQ(cairn_cover_list(covered->pool, visit, &told), 0) << cairn_last_error();
    return told;
  };
  const auto listed = [this] {
    std::vector<std::string> names;
    const auto visit = [](void* context, const char* path, uint64_t, int) {
      static_cast<std::vector<std::string>*>(context)->emplace_back(path);
      return 0;
    };
    EXPECT_EQ(cairn_cover_undrained(covered->pool, lower_.c_str(), visit, &names), 0);
    return names;
  };
  ASSERT_EQ(move("file", "moved"), 0);
  Told told = tell();
  EXPECT_EQ(told.files, 0U);
  EXPECT_EQ(told.bytes, 0U);
  EXPECT_EQ(told.renamed, 1U);
  EXPECT_EQ(told.oldest, "");
  EXPECT_FALSE(told.all_drained);
  EXPECT_EQ(listed(), std::vector<std::string>());
  cairn_residency residency = {};
  residency.struct_size = sizeof residency;
  ASSERT_EQ(cairn_tier_residency(covered->cover, "moved", &residency), 0) << cairn_last_error();
  EXPECT_EQ(residency.is_drained, 0U);
  EXPECT_EQ(residency.undrained_bytes, 0U);
  ASSERT_EQ(covered->create("new", "12345"), 0);
  told = tell();
  EXPECT_EQ(told.files, 1U);
  EXPECT_EQ(told.bytes, 5U);
  EXPECT_EQ(told.renamed, 1U);
  EXPECT_EQ(told.oldest, "new");
  EXPECT_EQ(listed(), std::vector<std::string>{"new"});
  drain();
  told = tell();
  EXPECT_EQ(told.renamed, 0U);
  EXPECT_TRUE(told.all_drained);
}

TEST_F(MovedTest, SmallFilesTogether) {
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(covered->create("small-" + std::to_string(i), std::to_string(i)), 0);
  drain();
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(move("small-" + std::to_string(i), "dir/" + std::to_string(i)), 0);
  ASSERT_EQ(covered->create("small-7", "new"), 0);
  EXPECT_LE(drain(), 4U);  // "new", and what it has replaced
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(get(lower_ + "/dir/" + std::to_string(i)), std::to_string(i));
  EXPECT_EQ(get(lower_ + "/small-7"), "new");
  expect_drained(*covered);
}

// The pool's name is another file's meanwhile: one of the two is copied at most.
TEST_F(MovedTest, ARotatedFile) {
  ASSERT_EQ(move("file", "file.1"), 0);
  ASSERT_EQ(covered->create("file", "new"), 0);
  drain();
  EXPECT_TRUE(get(lower_ + "/file.1") == bytes_);
  EXPECT_EQ(get(lower_ + "/file"), "new");
  expect_drained(*covered);
}

TEST_F(MovedTest, ExchangedFiles) {
  ASSERT_EQ(move("file", "other", RENAME_EXCHANGE), 0);
  EXPECT_LE(drain(), bytes_.size());
  EXPECT_TRUE(get(lower_ + "/other") == bytes_);
  EXPECT_TRUE(get(lower_ + "/file") == other_);
  expect_drained(*covered);
}

// The place that the file had in lower holds another one, which has been removed since.
TEST_F(MovedTest, AnotherFileHasHadItsPlace) {
  ASSERT_EQ(move("file", "postponed"), 0);
  ASSERT_EQ(covered->create("file", std::string(bytes_.size(), 'x')), 0);
  cairn_file* file = open("postponed", O_RDONLY);  // a drain in mode close leaves it
  ASSERT_EQ(drain_while_running(), 1U);
  cairn_close(file);
  EXPECT_EQ(get(lower_ + "/file"), std::string(bytes_.size(), 'x'));
  ASSERT_EQ(cairn_unlink(covered->pool, covered->top, "file"), 0);
  expect_copied("postponed", bytes_);
}

// The old name waits in lower, as a link to the same file, while the pool is full and the evicted
// file gets another time. That is no change of the old name.
TEST_F(MovedTest, AttributesChangeWhileTheOldNameWaits) {
  cairn_file* file = open("filler", O_WRONLY | O_CREAT);
  ASSERT_EQ(cairn_write(file, "open", 4), 4);
  ASSERT_EQ(move("file", "moved"), 0);
  ASSERT_EQ(drain_while_running(), 1U);
  ASSERT_NE(inode_of("file"), 0U);
  ASSERT_EQ(inode_of("moved"), inode_of("file"));
  expect_evicted("moved");
  const std::string filler(mib, 'f');
  while (cairn_write(file, filler.data(), filler.size()) > 0) continue;
  constexpr int64_t time = 1'100'000'000'000'000'000;
  ASSERT_EQ(cairn_utimens(covered->pool, covered->stat("moved").ino, 0, time, time), 0);
  ASSERT_EQ(drain_while_running(), 1U);
  ASSERT_TRUE(is_lazy("moved"));
  EXPECT_NE(inode_of("moved"), inode_of("file"));
  cairn_close(file);
  drain();
  EXPECT_EQ(inode_of("file"), 0U);
  EXPECT_TRUE(get(lower_ + "/moved") == bytes_);
  expect_drained(*covered);
}

// A program that stages a file may wait until the drain has made room.
TEST_F(MovedTest, ADrainPassesAFileThatIsBeingStaged) {
  expect_evicted("file");
  ASSERT_EQ(cairn_chmod(covered->pool, covered->stat("file").ino, 0, 0600), 0);
  const auto stager = std::this_thread::get_id();
  std::atomic<bool> over{false};
  bool in_time = false;
  std::thread drain_thread;
  uint64_t stores = 0;
  set_store_hook(covered->pool, [&](uint64_t) {
    constexpr uint64_t amid_the_copy = 50;
    if (std::this_thread::get_id() != stager || ++stores != amid_the_copy) return;
    drain_thread = std::thread([&] {
      drain_while_running();
      over = true;
    });
    for (int i = 0; i < 3000 && !over; ++i) usleep(1000);
    in_time = over;
  });
  EXPECT_EQ(covered->write("file", "NEW", 5000), 0);
  set_store_hook(covered->pool, [](uint64_t) {});
  ASSERT_TRUE(drain_thread.joinable());
  drain_thread.join();
  EXPECT_TRUE(in_time);
  expect_copied("file", std::string(bytes_).replace(5000, 3, "NEW"));
}

// --- with its directory ---

// As programs write a checkpoint: to `tmp`, which is renamed once it is whole.
class MovedDirectory : public MovedTest {
 protected:
  void SetUp() override {
    MovedTest::SetUp();
    make("tmp");
  }
  void make(const std::string& directory) {
    ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, directory.c_str(), 0755), 0);
    ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, (directory + "/deep").c_str(), 0755), 0);
    ASSERT_EQ(covered->create(directory + "/a", bytes_), 0);
    ASSERT_EQ(covered->create(directory + "/deep/b", other_), 0);
    ASSERT_EQ(covered->create(directory + "/small", "small"), 0);
    ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  }
  void expect_whole(const std::string& directory) {
    EXPECT_TRUE(get(lower_ + "/" + directory + "/a") == bytes_);
    EXPECT_TRUE(get(lower_ + "/" + directory + "/deep/b") == other_);
    EXPECT_EQ(get(lower_ + "/" + directory + "/small"), "small");
  }
};

TEST_F(MovedDirectory, NothingIsWritten) {
  const ino_t before = inode_of("tmp/deep/b");
  ASSERT_EQ(move("tmp", "checkpoint"), 0);
  cairn_cover_info told = {};
  const auto visit = [](void* context, const cairn_cover_info* info) {
    *static_cast<cairn_cover_info*>(context) = *info;
  };
  ASSERT_EQ(cairn_cover_list(covered->pool, visit, &told), 0);
  EXPECT_EQ(told.undrained_files, 0U);
  EXPECT_EQ(told.renamed_files, 3U);
  EXPECT_EQ(drain(), 0U);
  EXPECT_EQ(inode_of("checkpoint/deep/b"), before);
  expect_whole("checkpoint");
  EXPECT_FALSE(fs::exists(lower_ + "/tmp"));
  expect_drained(*covered);
  expect_evicted("checkpoint/deep/b");
  EXPECT_TRUE(covered->read("checkpoint/deep/b") == other_);
}

TEST_F(MovedDirectory, AgainAndElsewhere) {
  ASSERT_EQ(move("tmp", "dir/once"), 0);
  EXPECT_EQ(drain(), 0U);
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "new", 0755), 0);
  ASSERT_EQ(move("dir/once", "new/twice"), 0);
  EXPECT_EQ(drain(), 0U);
  ASSERT_EQ(move("new/twice", "tmp"), 0);
  ASSERT_EQ(move("tmp", "last"), 0);
  ASSERT_EQ(move("last/deep", "deep"), 0);
  EXPECT_EQ(drain(), 0U);
  EXPECT_TRUE(get(lower_ + "/last/a") == bytes_);
  EXPECT_TRUE(get(lower_ + "/deep/b") == other_);
  expect_drained(*covered);
}

// The next checkpoint is being written under the old name, with the same names in it.
TEST_F(MovedDirectory, AnotherOneHasItsName) {
  ASSERT_EQ(move("tmp", "checkpoint"), 0);
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "tmp", 0755), 0);
  ASSERT_EQ(covered->create("tmp/a", "next"), 0);
  EXPECT_LE(drain(), 8U);  // "next", which is also read back
  expect_whole("checkpoint");
  EXPECT_EQ(get(lower_ + "/tmp/a"), "next");
  EXPECT_FALSE(fs::exists(lower_ + "/tmp/deep"));
  expect_drained(*covered);
}

TEST_F(MovedDirectory, WithAFileThatWasRenamedInIt) {
  ASSERT_EQ(move("tmp/a", "tmp/renamed"), 0);
  ASSERT_EQ(move("tmp", "checkpoint"), 0);
  ASSERT_EQ(move("checkpoint/deep/b", "checkpoint/b"), 0);
  EXPECT_EQ(drain(), 0U);
  EXPECT_TRUE(get(lower_ + "/checkpoint/renamed") == bytes_);
  EXPECT_TRUE(get(lower_ + "/checkpoint/b") == other_);
  expect_drained(*covered);
}

TEST_F(MovedDirectory, WithAnEvictedFile) {
  expect_evicted("tmp/a");
  ASSERT_EQ(move("tmp", "checkpoint"), 0);
  EXPECT_EQ(drain(), 0U);
  expect_whole("checkpoint");
  expect_drained(*covered);
}

TEST_F(MovedDirectory, WhatChangedIsCopied) {
  ASSERT_EQ(covered->write("tmp/a", "NEW", 5000), 0);
  ASSERT_EQ(move("tmp", "checkpoint"), 0);
  ASSERT_EQ(covered->write("checkpoint/deep/b", "NEW", 5000), 0);
  EXPECT_GE(drain(), bytes_.size() + other_.size());
  EXPECT_TRUE(get(lower_ + "/checkpoint/a") == std::string(bytes_).replace(5000, 3, "NEW"));
  EXPECT_TRUE(get(lower_ + "/checkpoint/deep/b") == std::string(other_).replace(5000, 3, "NEW"));
  expect_drained(*covered);
}

// Somebody has changed the old directory in lower, so the drain leaves it there.
TEST_F(MovedDirectory, WhatLowerHasNoMoreIsCopied) {
  ASSERT_EQ(move("tmp", "checkpoint"), 0);
  fs::remove(lower_ + "/tmp/a");
  EXPECT_EQ(covered->drain().report.conflicts, 1U);
  expect_whole("checkpoint");
  EXPECT_TRUE(fs::exists(lower_ + "/tmp/deep/b"));
  fs::remove_all(lower_ + "/tmp");
  EXPECT_EQ(drain(), 0U);
  expect_whole("checkpoint");
  expect_drained(*covered);
}

// What is open for long holds up the removal of the old name, and nothing is written twice.
TEST_F(MovedDirectory, WhileAnotherFileWaits) {
  cairn_file* log = open("log", O_WRONLY | O_CREAT);
  ASSERT_EQ(cairn_write(log, "first", 5), 5);
  ASSERT_EQ(move("tmp", "checkpoint"), 0);
  cairn_while_running rule = {};
  rule.struct_size = sizeof rule;
  for (const uint64_t files : {3U, 0U}) {
    cairn_drain_report report = {};
    ASSERT_EQ(
        cairn_cover_drain_while_running(covered->cover, &rule, nullptr, nullptr, nullptr, &report),
        0)
        << cairn_last_error();
    EXPECT_EQ(report.files, files);
    EXPECT_EQ(report.bytes, 0U);
  }
  EXPECT_EQ(inode_of("checkpoint/a"), inode_of("tmp/a"));
  cairn_close(log);
  drain();
  expect_whole("checkpoint");
  EXPECT_FALSE(fs::exists(lower_ + "/tmp"));
  expect_drained(*covered);
}

// --- what else may have changed ---

class MovedAndChanged : public MovedTest {
 protected:
  void write(const std::string& name) { ASSERT_EQ(covered->write(name, "NEW", 5000), 0); }
  std::string changed() const { return std::string(bytes_).replace(5000, 3, "NEW"); }
};

TEST_F(MovedAndChanged, WrittenBefore) {
  write("file");
  ASSERT_EQ(move("file", "moved"), 0);
  expect_copied("moved", changed());
}

TEST_F(MovedAndChanged, WrittenAfterwards) {
  ASSERT_EQ(move("file", "moved"), 0);
  write("moved");
  expect_copied("moved", changed());
}

TEST_F(MovedAndChanged, WrittenInBetween) {
  ASSERT_EQ(move("file", "a"), 0);
  write("a");
  ASSERT_EQ(move("a", "moved"), 0);
  expect_copied("moved", changed());
}

// In the tick of the clock in which it was renamed, and with the times set back.
TEST_F(MovedAndChanged, WrittenInTheSameTick) {
  for (int i = 0; i < 20; ++i) {
    const std::string name = "file-" + std::to_string(i);
    ASSERT_EQ(covered->create(name, "old"), 0);
  }
  drain();
  for (int i = 0; i < 20; ++i) {
    const std::string name = "file-" + std::to_string(i);
    const std::string moved = "moved-" + std::to_string(i);
    const cairn_stat before = covered->stat(name);
    cairn_file* file = open(name, O_RDWR);
    ASSERT_EQ(move(name, moved), 0);
    ASSERT_EQ(cairn_pwrite(file, "new", 3, 0), 3);
    if (i % 2 == 0) {
      ASSERT_EQ(cairn_utimens(covered->pool, before.ino, 0, before.atime_ns, before.mtime_ns), 0);
    }
    cairn_close(file);
  }
  drain();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(get(lower_ + "/moved-" + std::to_string(i)), "new") << i;
}

TEST_F(MovedAndChanged, WithAnotherMode) {
  ASSERT_EQ(move("file", "moved"), 0);
  const cairn_stat st = covered->stat("moved");
  ASSERT_EQ(cairn_chmod(covered->pool, st.ino, 0, 0600), 0);
  expect_copied("moved", bytes_);
}

TEST_F(MovedAndChanged, WithTwoNames) {
  ASSERT_EQ(move("file", "moved"), 0);
  ASSERT_EQ(cairn_link(covered->pool, covered->top, "moved", covered->top, "dir/second", 0), 0);
  expect_copied("moved", bytes_);
  EXPECT_EQ(inode_of("moved"), inode_of("dir/second"));
}

TEST_F(MovedAndChanged, StoredThroughAMapping) {
  ASSERT_EQ(move("file", "moved"), 0);
  cairn_file* file = open("moved", O_RDWR);
  void* at = nullptr;
  ASSERT_EQ(cairn_mmap(file, nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 0, &at), 0);
  ASSERT_EQ(cairn_close(file), 0);
  covered->drain();
  std::memcpy(static_cast<char*>(at) + 5000, "NEW", 3);
  ASSERT_EQ(cairn_munmap(covered->pool, at, 8192), 0);
  expect_copied("moved", changed());
}

// --- what lower has to say ---

TEST_F(MovedAndChanged, ChangedInLower) {
  ASSERT_EQ(move("file", "moved"), 0);
  put(lower_ + "/file", "theirs");
  EXPECT_EQ(covered->drain().report.conflicts, 1U);  // the old name is not removed
  EXPECT_TRUE(get(lower_ + "/moved") == bytes_);
  EXPECT_EQ(get(lower_ + "/file"), "theirs");
}

TEST_F(MovedAndChanged, AnotherUsersInLower) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t somebody = 12345;
  ASSERT_EQ(move("file", "moved"), 0);
  ASSERT_EQ(chown((lower_ + "/file").c_str(), somebody, somebody), 0);
  expect_copied("moved", bytes_);
}

TEST_F(MovedAndChanged, GoneInLower) {
  ASSERT_EQ(move("file", "moved"), 0);
  fs::remove(lower_ + "/file");
  expect_copied("moved", bytes_);
}

TEST_F(MovedAndChanged, SomethingHasTheNewName) {
  ASSERT_EQ(move("file", "moved"), 0);
  put(lower_ + "/moved", "theirs");
  EXPECT_EQ(covered->drain().report.conflicts, 1U);
  EXPECT_EQ(get(lower_ + "/moved"), "theirs");
  EXPECT_TRUE(get(lower_ + "/file") == bytes_);
  fs::remove(lower_ + "/moved");
  EXPECT_EQ(drain(), 0U);
  EXPECT_TRUE(get(lower_ + "/moved") == bytes_);
  expect_drained(*covered);
}

TEST_F(MovedAndChanged, WhereThereAreNoLinks) {
  ASSERT_EQ(move("file", "moved"), 0);
  set_lower_hook([](const LowerCall& call) { return call.number == SYS_linkat ? EPERM : 0; });
  EXPECT_EQ(covered->drain().code, 0);
  set_lower_hook(nullptr);
  EXPECT_TRUE(get(lower_ + "/moved") == bytes_);
  EXPECT_FALSE(fs::exists(lower_ + "/file"));
  expect_drained(*covered);
}

// The directory that holds the new name cannot be made durable: the file is not drained.
TEST_F(MovedAndChanged, TheNewNameIsNotDurable) {
  ASSERT_EQ(move("file", "dir/moved"), 0);
  set_lower_hook([](const LowerCall& call) {
    return call.number == SYS_fsync && names(call.arguments[0], "/dir") ? EIO : 0;
  });
  EXPECT_NE(covered->drain().code, 0);
  set_lower_hook(nullptr);
  EXPECT_EQ(evict("dir/moved"), -EBUSY);
  drain();
  EXPECT_TRUE(get(lower_ + "/dir/moved") == bytes_);
  EXPECT_FALSE(fs::exists(lower_ + "/file"));
  expect_drained(*covered);
}

// --- a writer that is killed ---

// Its bytes are in place, and neither a stamp nor a time says so.
TEST_F(MovedAndChanged, AKilledWriterShows) {
  ASSERT_EQ(move("file", "moved"), 0);
  for (uint64_t last = 1; last < 40 && !HasFailure(); ++last) {
    const pid_t child = fork();
    if (child == 0) {
      Covered own(pool_, lower_, true);
      cairn_file* file = nullptr;
      if (cairn_open(own.pool, own.top, "moved", O_WRONLY, 0, &file) != 0) _exit(1);
      set_store_hook(own.pool, [last](uint64_t number) {
        if (number == last) kill(getpid(), SIGKILL);
      });
      const char byte = static_cast<char>('A' + last % 26);
      cairn_pwrite(file, &byte, 1, last);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    drain();
    ASSERT_TRUE(get(lower_ + "/moved") == covered->read("moved")) << last;
    ASSERT_EQ(move("moved", "back"), 0);
    ASSERT_EQ(move("back", "moved"), 0);
  }
}

}  // namespace
}  // namespace cairn::test
