// Changes that a drain could take for none, and what it must not take along.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/coarse_clock.h"
#include "tier/cover_fixture.h"
#include "tier/lower_calls.h"

namespace cairn::test {
namespace {

// The clock of changes, as somebody sets it back.
class ClockThatIsSet {
 public:
  ClockThatIsSet() : before_(cairn::detail::ask_clock.exchange(ask)) {}
  ~ClockThatIsSet() {
    cairn::detail::ask_clock = before_;
    set_back_s = 0;
  }
  ClockThatIsSet(const ClockThatIsSet&) = delete;
  ClockThatIsSet& operator=(const ClockThatIsSet&) = delete;
  static inline std::atomic<time_t> set_back_s = 0;

 private:
  static int ask(clockid_t clock, timespec* time) {
    const int result = clock_gettime(clock, time);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) time->tv_sec -= set_back_s;
    return result;
  }
  cairn::detail::ClockGettime before_;
};

class KeptChanges : public CoverTest {
 protected:
  void SetUp() override {
    make_pool();
    put_some_files();
  }
  ~KeptChanges() override { set_lower_hook(nullptr); }
  cairn_file* open(Covered& covered, const char* path) {
    cairn_file* file = nullptr;
    EXPECT_EQ(cairn_open(covered.pool, covered.top, path, O_RDWR | O_CREAT, 0644, &file), 0)
        << cairn_last_error();
    return file;
  }
  char* map(cairn_file* file, int protection) {
    void* mapped = nullptr;
    EXPECT_EQ(cairn_mmap(file, nullptr, 4096, protection, MAP_SHARED, 0, &mapped), 0)
        << cairn_last_error();
    return static_cast<char*>(mapped);
  }
  // A drain in a process of its own, killed right before its call `number` on lower, or before the
  // next one.
  enum class When { before, after };
  void kill_drain(When when, long number) {
    const pid_t child = fork();
    if (child == 0) {
      Covered covered(pool_, lower_, true);
      bool dies = false;
      set_lower_hook([&](const LowerCall& call) {
        const bool is_there = call.number == number;
        if (dies || (is_there && when == When::before)) kill(getpid(), SIGKILL);
        dies = is_there;
        return 0;
      });
      covered.drain();
      _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the drain made no such call";
  }
};

TEST_F(KeptChanges, WhatAKilledDrainWasAboutMeansNothingToTheNextCover) {
  {
    Covered covered(pool_, lower_);
    ASSERT_EQ(covered.create("precious", "bytes"), 0);
  }
  kill_drain(When::after, SYS_renameat2);
  {
    Covered covered(pool_, lower_, true);
    ASSERT_EQ(covered.discard(), 0) << cairn_last_error();
  }
  ASSERT_EQ(get(lower_ + "/precious"), "bytes");
  Covered covered(pool_, lower_);
  EXPECT_EQ(covered.drain().code, 0);
  EXPECT_EQ(get(lower_ + "/precious"), "bytes");
}

TEST_F(KeptChanges, DiscardRemovesWhatAKilledDrainWroteAside) {
  const auto before = describe(lower_, {false});
  {
    Covered covered(pool_, lower_);
    ASSERT_EQ(covered.create("new", "bytes"), 0);
  }
  kill_drain(When::before, SYS_renameat2);
  {
    Covered covered(pool_, lower_, true);
    ASSERT_EQ(covered.discard(), 0) << cairn_last_error();
  }
  EXPECT_EQ(difference(describe(lower_, {false}), before), "");
}

TEST_F(KeptChanges, StoresThroughAMappingOfALinkedFile) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.create("f", std::string(4096, 'o')), 0);
  ASSERT_EQ(cairn_link(covered.pool, covered.top, "f", covered.top, "g", 0), 0);
  cairn_file* file = open(covered, "f");
  char* bytes = map(file, PROT_READ | PROT_WRITE);
  ASSERT_EQ(covered.drain().code, 0);
  std::memcpy(bytes, "NEW", 3);
  ASSERT_EQ(cairn_munmap(covered.pool, bytes, 4096), 0);
  cairn_close(file);
  ASSERT_EQ(covered.drain().code, 0);
  EXPECT_EQ(get(lower_ + "/f").substr(0, 4), "NEWo");
  EXPECT_EQ(get(lower_ + "/g").substr(0, 4), "NEWo");
}

TEST_F(KeptChanges, StoresThroughAMappingThatWasMadeWritableLater) {
  Covered covered(pool_, lower_);
  cairn_file* file = open(covered, "dir/a");
  char* bytes = map(file, PROT_READ);
  ASSERT_EQ(bytes[0], 'a');
  ASSERT_EQ(cairn_mmap_writable(covered.pool, bytes, 4096), 0) << cairn_last_error();
  ASSERT_EQ(mprotect(bytes, 4096, PROT_READ | PROT_WRITE), 0);
  std::memcpy(bytes, "NEW", 3);
  ASSERT_EQ(cairn_munmap(covered.pool, bytes, 4096), 0);
  cairn_close(file);
  ASSERT_EQ(covered.drain().code, 0);
  EXPECT_EQ(get(lower_ + "/dir/a").substr(0, 4), "NEWa");
}

TEST_F(KeptChanges, OnlyFilesThatAreOpenForWritingCanBeMadeWritable) {
  Covered covered(pool_, lower_);
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(covered.pool, covered.top, "dir/a", O_RDONLY, 0, &file), 0);
  char* bytes = map(file, PROT_READ);
  EXPECT_EQ(cairn_mmap_writable(covered.pool, bytes, 4096), -EACCES);
  ASSERT_EQ(cairn_munmap(covered.pool, bytes, 4096), 0);
  cairn_close(file);
}

// As cp -p does it: the contents are new, the mtime is old.
TEST_F(KeptChanges, AnOldFileThatWasPutBelowARemovedDirectory) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.read("dir/deep/b"), "bbb");
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "dir/deep/b"), 0);
  ASSERT_EQ(cairn_rmdir(covered.pool, covered.top, "dir/deep"), 0);
  usleep(20000);
  put(lower_ + "/dir/deep/b", "newer");
  fs::last_write_time(lower_ + "/dir/deep/b",
                      fs::file_time_type::clock::now() - std::chrono::hours(1000));
  usleep(20000);
  EXPECT_EQ(covered.drain().report.conflicts, 1U);
  EXPECT_EQ(get(lower_ + "/dir/deep/b"), "newer");
}

// A clock that is set back while a drain copies gives a write a time before the copy's.
TEST_F(KeptChanges, AWriteAfterTheClockWasSetBack) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.write("hello", "before"), 0);
  const ClockThatIsSet clock;
  bool is_set_back = false;
  set_lower_hook([&](const LowerCall& call) {
    if (call.number == SYS_fsync && !is_set_back) {
      is_set_back = true;
      ClockThatIsSet::set_back_s = 3600;
      EXPECT_EQ(covered.write("hello", "behind"), 0);
    }
    return 0;
  });
  covered.drain();
  set_lower_hook(nullptr);
  ASSERT_TRUE(is_set_back);
  EXPECT_NE(cairn_cover_end(covered.cover), 0) << "a write is lost";
  ClockThatIsSet::set_back_s = 0;
  expect_drained(covered);
  EXPECT_EQ(get(lower_ + "/hello").substr(0, 6), "behind");
}

TEST_F(KeptChanges, AttributesThatChangeWhileTheBytesCome) {
  Covered covered(pool_, lower_);
  const cairn_ino number = covered.stat("dir/a").ino;
  bool changed = false;
  set_lower_hook([&](const LowerCall& call) {
    if (call.number == SYS_pread64 && !changed) {
      changed = true;
      EXPECT_EQ(cairn_chmod(covered.pool, number, 0, 0600), 0) << cairn_last_error();
      EXPECT_EQ(cairn_utimens(covered.pool, number, 0, 1'000'000'007, 2'000'000'003), 0);
    }
    return 0;
  });
  cairn_file* file = open(covered, "dir/a");
  char* bytes = map(file, PROT_READ);
  set_lower_hook(nullptr);
  ASSERT_TRUE(changed);
  ASSERT_EQ(cairn_munmap(covered.pool, bytes, 4096), 0);
  cairn_close(file);
  EXPECT_EQ(covered.stat("dir/a").mtime_ns, 2'000'000'003);
  expect_drained(covered);
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/dir/a").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0600U);
}

// A file that is linked is brought whole into the pool first. Removed meanwhile, its number was
// free at once.
TEST_F(KeptChanges, AFileThatIsMadeWhileTheBytesOfARemovedOneCome) {
  Covered covered(pool_, lower_);
  std::thread removing;
  set_lower_hook([&](const LowerCall& call) {
    if (call.number == SYS_pread64 && !removing.joinable()) {
      removing = std::thread([&] {
        EXPECT_EQ(cairn_unlink(covered.pool, covered.top, "dir/a"), 0) << cairn_last_error();
        EXPECT_EQ(covered.create("other", "mine"), 0) << cairn_last_error();
      });
      usleep(50000);
    }
    return 0;
  });
  const int linked = cairn_link(covered.pool, covered.top, "dir/a", covered.top, "linked", 0);
  ASSERT_TRUE(removing.joinable());
  removing.join();
  set_lower_hook(nullptr);
  EXPECT_TRUE(linked == 0 || linked == -ENOENT) << cairn_last_error();
  EXPECT_EQ(covered.stat("other").size, 4U);
  EXPECT_EQ(covered.read("other").substr(0, 4), "mine");
  expect_drained(covered);
  EXPECT_EQ(fs::file_size(lower_ + "/other"), 4U);
}

TEST_F(KeptChanges, ReadersSeeTheFileWhoseAttributesAreDrained) {
  Covered covered(pool_, lower_);
  const cairn_ino number = covered.stat("hello").ino;
  ASSERT_EQ(cairn_utimens(covered.pool, number, 0, 1'000'000'007, 2'000'000'003), 0);
  std::string seen;
  std::thread reader;
  set_lower_hook([&](const LowerCall& call) {
    if (call.number == SYS_fsync && names(call.arguments[0], "/hello") && !reader.joinable()) {
      reader = std::thread([&] { seen = covered.read("hello"); });
      usleep(50000);
    }
    return 0;
  });
  EXPECT_EQ(covered.drain().code, 0);
  ASSERT_TRUE(reader.joinable());
  reader.join();
  EXPECT_EQ(seen, "hello, world\n");
}

TEST_F(KeptChanges, AFullPoolCanBeDrained) {
  Covered covered(pool_, lower_);
  cairn_file* file = open(covered, "big");
  const std::string bytes(64 << 10, 'x');
  uint64_t size = 0;
  for (ssize_t n = 0; (n = cairn_write(file, bytes.data(), bytes.size())) > 0;)
    size += static_cast<uint64_t>(n);
  cairn_close(file);
  EXPECT_EQ(covered.drain().code, 0);
  EXPECT_EQ(fs::file_size(lower_ + "/big"), size);
}

TEST_F(KeptChanges, ACoverEndsOnlyWhenAllIsDrained) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.drain().code, 0);
  ASSERT_EQ(covered.write("hello", "late", 0), 0);
  EXPECT_EQ(cairn_cover_end(covered.cover), -EAGAIN);
  ASSERT_EQ(covered.drain().code, 0);
  EXPECT_EQ(cairn_cover_end(covered.cover), 0) << cairn_last_error();
  covered.cover = nullptr;
  EXPECT_EQ(get(lower_ + "/hello").substr(0, 4), "late");
}

// What a capability was given to is not what stands there now.
TEST_F(KeptChanges, CapabilitiesDoNotGoOverToOtherBytes) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give capabilities";
  const unsigned char capability[20] = {1, 0, 0, 2, 0, 0x20};
  const std::string path = lower_ + "/hello";
  if (setxattr(path.c_str(), "security.capability", capability, sizeof capability, 0) != 0)
    GTEST_SKIP() << "no capabilities on this file system";
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.write("hello", "other", 0), 0);
  ASSERT_EQ(covered.drain().code, 0);
  char value[32];
  EXPECT_LT(getxattr(path.c_str(), "security.capability", value, sizeof value), 0);
}

}  // namespace
}  // namespace cairn::test
