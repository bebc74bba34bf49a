// What a name of lower held before is in lower all the time, until its new place is written: killed at any call, or
// without room for more.
#include <signal.h>
#include <stdio.h>  // NOLINT: RENAME_EXCHANGE
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

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
         EXPECT_EQ(cairn_rmdir(covered.pool, covered.top, "dir"), 0);
         EXPECT_EQ(covered.create("dir", "now a file"), 0);
       }},
      {"directories exchanged",
       [](Covered& covered) { move(covered, "dir", "dir2", RENAME_EXCHANGE); }},
  };
  return all;
}

class ReplacedTest : public CoverTest, public ::testing::WithParamInterface<size_t> {
 protected:
  ~ReplacedTest() override { set_lower_hook(nullptr); }
  [[nodiscard]] const Replacement& replacement() const { return replacements()[GetParam()]; }

  // Old data in lower: half of it was there before, half has been drained.
  void begin() {
    fs::remove_all(lower_);
    fs::create_directories(lower_ + "/dir");
    put(lower_ + "/log", "OLD log");
    put(lower_ + "/dir/in", "OLD in");
    make_pool(16 << 20);
    Covered covered(pool_, lower_);
    EXPECT_EQ(covered.create("other", "OLD other"), 0);
    EXPECT_EQ(cairn_mkdir(covered.pool, covered.top, "dir2", 0755), 0);
    EXPECT_EQ(covered.create("dir2/in", "OLD in 2"), 0);
    EXPECT_EQ(covered.drain().code, 0);
    replacement().act(covered);
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
    for (const char* old : {"OLD log\n", "OLD in\n", "OLD other\n", "OLD in 2\n"})
      EXPECT_NE(all.find(old), std::string::npos) << old << "is lost";
  }
  static bool changes(const LowerCall& call) {
    for (long number : {SYS_renameat2, SYS_unlinkat, SYS_mkdirat, SYS_linkat, SYS_pwrite64,
                        SYS_ftruncate, SYS_utimensat, SYS_fsync})
      if (call.number == number) return true;
    return false;
  }
  // A drain in a process of its own, killed at its call `last` that changes something. True if it came to its end.
  bool killed_at(int last) {
    const pid_t child = fork();
    if (child == 0) {
      Covered covered(pool_, lower_, true);
      int calls = 0;
      set_lower_hook([&](const LowerCall& call) {
        if (changes(call) && ++calls == last) kill(getpid(), SIGKILL);
        return 0;
      });
      _exit(covered.drain().code == 0 ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return !WIFSIGNALED(status);
  }

  std::map<std::string, std::string> shown_;
};

TEST_P(ReplacedTest, KilledAtAnyCall) {
  SCOPED_TRACE(replacement().name);
  for (int last = 1; !HasFailure(); ++last) {
    SCOPED_TRACE(last);
    begin();
    const bool ended = killed_at(last);
    expect_old_data();
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

INSTANTIATE_TEST_SUITE_P(All, ReplacedTest, ::testing::Range<size_t>(0, 5));

}  // namespace
}  // namespace cairn::test
