// What a name of lower held before is in lower all the time, until its new place is written: killed
// at any call or store to the pool, or without room for more.
#include <signal.h>
#include <stdio.h>  // NOLINT: RENAME_EXCHANGE
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>

#include "support/pool_stores.h"
#include "tier/cover_fixture.h"
#include "tier/lower_calls.h"

namespace cairn::test {
namespace {

struct Replacement {
  const char* name;
  std::function<void(Covered&)> act;
};

void move(Covered& covered, const char* from, const char* to, unsigned flags = 0) {
  EXPECT_EQ(cairn_rename(covered.pool, covered.top, from, covered.top, to, flags), 0)
      << from << " to " << to << ": " << cairn_last_error();
}

const std::vector<Replacement>& replacements() {
  static const std::vector<Replacement> all = {
      {"exchange", [](Covered& covered) { move(covered, "log", "other", RENAME_EXCHANGE); }},
      {"rotation",
       [](Covered& covered) {
         move(covered, "log", "log.1");
         EXPECT_EQ(covered.create("log", "new"), 0);
       }},
      {"into a directory of its name",
       [](Covered& covered) {
         move(covered, "log", "tmp");
         EXPECT_EQ(cairn_mkdir(covered.pool, covered.top, "log", 0755), 0);
         move(covered, "tmp", "log/log");
       }},
      {"a file in the place of a directory",
       [](Covered& covered) {
         move(covered, "dir/in", "kept");
         move(covered, "dir/sub", "sub");
         EXPECT_EQ(cairn_rmdir(covered.pool, covered.top, "dir"), 0);
         EXPECT_EQ(covered.create("dir", "now a file"), 0);
       }},
      {"directories exchanged",
       [](Covered& covered) { move(covered, "dir", "dir2", RENAME_EXCHANGE); }},
      {"through several names, and new files in their places",
       [](Covered& covered) {
         move(covered, "log", "dir/log");
         EXPECT_EQ(covered.create("log", "new"), 0);
         move(covered, "other", "tmp");
         move(covered, "dir/log", "other");
         move(covered, "tmp", "dir2/other");
       }},
  };
  return all;
}

class ReplacedOnceTest : public CoverTest {
 protected:
  ~ReplacedOnceTest() override { set_lower_hook(nullptr); }

  // Old data in lower: half of it was there before, half has been drained.
  void begin(const Replacement& replacement) {
    fs::remove_all(lower_);
    fs::create_directories(lower_ + "/dir/sub");
    put(lower_ + "/log", "OLD log");
    put(lower_ + "/dir/in", "OLD in");
    put(lower_ + "/dir/sub/below", "OLD below");
    make_pool(16 << 20);
    Covered covered(pool_, lower_);
    EXPECT_EQ(covered.create("other", "OLD other"), 0);
    EXPECT_EQ(cairn_mkdir(covered.pool, covered.top, "dir2", 0755), 0);
    EXPECT_EQ(covered.create("dir2/in", "OLD in 2"), 0);
    EXPECT_EQ(covered.drain().code, 0);
    replacement.act(covered);
    shown_ = covered.describe();
  }
  void end() {
    {
      Covered covered(pool_, lower_, true);
      EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
    }
    EXPECT_EQ(difference(shown_, describe(lower_)), "");
    for (const auto& entry : fs::recursive_directory_iterator(lower_))
      EXPECT_EQ(entry.path().filename().string().rfind(".cairn-drain-", 0), std::string::npos);
    ASSERT_EQ(cairn_pool_remove(pool_.c_str()), 0) << cairn_last_error();
    fs::remove(lower_ + "/.cairn-claim");
  }
  void expect_old_data() {
    std::string all;
    for (const auto& entry : fs::recursive_directory_iterator(lower_))
      if (entry.is_regular_file()) all += get(entry.path().string()) + "\n";
    for (const char* old : {"OLD log\n", "OLD in\n", "OLD below\n", "OLD other\n", "OLD in 2\n"})
      EXPECT_NE(all.find(old), std::string::npos) << old << "is lost";
  }
  static bool changes(const LowerCall& call) {
    for (long number : {SYS_renameat2, SYS_unlinkat, SYS_mkdirat, SYS_linkat, SYS_symlinkat,
                        SYS_pwrite64, SYS_ftruncate, SYS_utimensat, SYS_fsync})
      if (call.number == number) return true;
    return false;
  }
  // A drain in a process of its own, killed when `arm` says so. True if it came to its end.
  bool killed(const std::function<void(Covered&)>& arm) {
    const pid_t child = fork();
    if (child == 0) {
      Covered covered(pool_, lower_, true);
      arm(covered);
      _exit(covered.drain().code == 0 ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return !WIFSIGNALED(status);
  }
  // At its call `last` that changes something in lower, or its store `last` to the pool.
  bool killed_at_call(int last) {
    return killed([last](Covered&) {
      set_lower_hook([last, calls = 0](const LowerCall& call) mutable {
        if (changes(call) && ++calls == last) kill(getpid(), SIGKILL);
        return 0;
      });
    });
  }
  bool killed_at_store(uint64_t last) {
    return killed([last](Covered& covered) {
      set_store_hook(covered.pool, [last](uint64_t number) {
        if (number == last) kill(getpid(), SIGKILL);
      });
    });
  }

  // At its first store after the first such call.
  bool killed_after_call(long number) {
    return killed([number](Covered& covered) {
      auto called = std::make_shared<std::atomic<bool>>(false);
      set_lower_hook([number, called](const LowerCall& call) {
        if (call.number == number) *called = true;
        return 0;
      });
      set_store_hook(covered.pool, [called](uint64_t /*number*/) {
        if (*called) kill(getpid(), SIGKILL);
      });
    });
  }

  std::map<std::string, std::string> shown_;
};

class ReplacedTest : public ReplacedOnceTest, public ::testing::WithParamInterface<size_t> {
 protected:
  [[nodiscard]] const Replacement& replacement() const { return replacements()[GetParam()]; }
  void begin() { ReplacedOnceTest::begin(replacement()); }
};

using ReplacedDirectoryTest = ReplacedTest;

// Neither that something is gone nor that a directory has come in its place was noted. Some file
// systems, and these not always, give it the number of the one that is gone.
TEST_F(ReplacedOnceTest, KilledBeforeEitherWasNoted) {
  bool is_used_again = false;
  for (int i = 0; i < 100 && !is_used_again && !HasFailure(); ++i) {
    begin({"a directory in the place of a link", [](Covered& covered) {
             EXPECT_EQ(cairn_symlink(covered.pool, "log", covered.top, "link"), 0);
             EXPECT_EQ(covered.drain().code, 0);
             EXPECT_EQ(cairn_unlink(covered.pool, covered.top, "link"), 0);
             move(covered, "dir", "link");
           }});
    struct stat before = {};
    struct stat after = {};
    EXPECT_EQ(lstat((lower_ + "/link").c_str(), &before), 0);
    EXPECT_FALSE(killed_after_call(SYS_unlinkat));
    EXPECT_FALSE(killed_after_call(SYS_mkdirat));
    EXPECT_EQ(lstat((lower_ + "/link").c_str(), &after), 0);
    is_used_again = before.st_ino == after.st_ino;
    end();
  }
}

TEST_P(ReplacedTest, KilledAtAnyCall) {
  SCOPED_TRACE(replacement().name);
  for (int last = 1; !HasFailure(); ++last) {
    SCOPED_TRACE(last);
    begin();
    const bool ended = killed_at_call(last);
    expect_old_data();
    end();
    if (ended) break;
  }
}

// Each run of the test looks at every third store, and several runs at all of them.
constexpr uint64_t store_stride = 3;
uint64_t first_store() { return 1 + static_cast<uint64_t>(getpid()) % store_stride; }

TEST_P(ReplacedTest, KilledAtAnyStore) {
  SCOPED_TRACE(replacement().name);
  lower_ = shared_.path("lower");
  for (uint64_t last = first_store(); !HasFailure(); last += store_stride) {
    SCOPED_TRACE(last);
    begin();
    const bool ended = killed_at_store(last);
    end();
    if (ended) break;
  }
}

// The first one when everything has its place, but not its mode and times yet. What is in a
// directory is younger than itself.
TEST_P(ReplacedDirectoryTest, KilledAgainAtAnyStore) {
  SCOPED_TRACE(replacement().name);
  lower_ = shared_.path("lower");
  for (uint64_t last = first_store(); !HasFailure(); last += store_stride) {
    SCOPED_TRACE(last);
    begin();
    EXPECT_FALSE(killed([](Covered&) {
      set_lower_hook([](const LowerCall& call) {
        if (call.number == SYS_mkdirat) usleep(5'000);
        if (call.number == SYS_fchmod && is_directory(call.arguments[0])) kill(getpid(), SIGKILL);
        return 0;
      });
    }));
    const bool ended = killed_at_store(last);
    end();
    if (ended) break;
  }
}

TEST_P(ReplacedTest, WithoutRoomForMore) {
  SCOPED_TRACE(replacement().name);
  for (int most = 0; most < 4; ++most) {
    SCOPED_TRACE(most);
    begin();
    {
      Covered covered(pool_, lower_, true);
      int written = 0;
      set_lower_hook([&](const LowerCall& call) {
        return call.number == SYS_pwrite64 && ++written > most ? ENOSPC : 0;
      });
      covered.drain();
      set_lower_hook(nullptr);
    }
    expect_old_data();
    end();
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReplacedTest, ::testing::Range<size_t>(0, 6));
INSTANTIATE_TEST_SUITE_P(All, ReplacedDirectoryTest, ::testing::Range<size_t>(2, 5));

}  // namespace
}  // namespace cairn::test
