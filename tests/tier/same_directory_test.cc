// Whether a path still leads to the directory that a cover was made for, and draining to another
// directory.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <set>

#include "capi/core/handles.h"
#include "tier/cover/covered_directory.h"
#include "tier/cover_fixture.h"
#include "tier/lower_calls.h"
#include "tier/record/record.h"

namespace cairn::test {
namespace {

class SameDirectory : public CoverTest {
 protected:
  SameDirectory() {
    make_pool();
    fs::create_directories(lower_);
  }
  ~SameDirectory() override { set_lower_hook(nullptr); }

  // The notices of opening the cover, or its error.
  std::string open(const std::string& pool, int expected = 0, const char* job = "job-1") {
    cairn_pool* attached = nullptr;
    EXPECT_EQ(cairn_pool_attach(pool.c_str(), 0, &attached), 0) << cairn_last_error();
    std::string text;
    cairn_cover_options options = {};
    options.struct_size = sizeof options;
    options.keep = 1;
    options.job = job;
    options.notice = [](void* context, const char* notice) {
      *static_cast<std::string*>(context) += notice;
    };
    options.notice_context = &text;
    cairn_cover* cover = nullptr;
    EXPECT_EQ(cairn_cover_open(attached, lower_.c_str(), &options, &cover), expected)
        << cairn_last_error();
    if (expected != 0) text = cairn_last_error();
    cairn_cover_close(cover);
    cairn_pool_detach(attached);
    return text;
  }
  void keep_something() {
    Covered covered(pool_, lower_);
    ASSERT_EQ(covered.create("kept", "kept"), 0);
  }
  std::string token_in(const std::string& name) {
    const std::string text = get(lower_ + "/" + name);
    const size_t at = text.find("\ntoken ");
    return at == std::string::npos ? "" : text.substr(at + 7, 32);
  }
  // Of the cover, as the pool remembers it; `change` may change it.
  tier::CoverRecord record(const std::function<void(tier::CoverRecord&)>& change = {}) {
    cairn_pool* attached = nullptr;
    EXPECT_EQ(cairn_pool_attach(pool_.c_str(), 0, &attached), 0) << cairn_last_error();
    tier::CoverRecord found;
    {
      const WriteWindow window;
      auto& fs = capi::fs_of(attached);
      auto covers = tier::find_covers(fs, false);
      auto record = tier::read_record(fs, *covers, tier::cover_name(lower_));
      EXPECT_TRUE(record.ok()) << cairn_last_error();
      found = *record;
      if (change) {
        change(found);
        EXPECT_TRUE(tier::write_record(fs, *covers, tier::cover_name(lower_), found).ok());
      }
    }
    cairn_pool_detach(attached);
    return found;
  }
  void remove_claim() const { ASSERT_TRUE(fs::remove(lower_ + "/.cairn-claim")); }
};

TEST_F(SameDirectory, TheTokenIsInTheClaimAndInThePool) {
  keep_something();
  EXPECT_EQ(token_in(".cairn-claim").size(), 32U);
  EXPECT_EQ(record().token, token_in(".cairn-claim"));
  EXPECT_EQ(record().owner, geteuid());
}

TEST_F(SameDirectory, PoolsThatJoinAClaimTakeItsToken) {
  const std::string second = shared_.path("second");
  cairn_pool_options options = {};
  options.struct_size = sizeof options;
  options.size = 16 << 20;
  ASSERT_EQ(cairn_pool_create(second.c_str(), &options), 0) << cairn_last_error();
  open(pool_);
  open(second);
  std::set<std::string> tokens;
  for (const auto& entry : fs::directory_iterator(lower_))
    tokens.insert(token_in(entry.path().filename()));
  EXPECT_EQ(tokens, std::set<std::string>{record().token});
  // A claim that was made anew says it again, whichever of them does it.
  const std::string token = record().token;
  for (const auto& entry : fs::directory_iterator(lower_)) fs::remove(entry.path());
  EXPECT_NE(open(second).find("its claim was missing and is written again"), std::string::npos);
  EXPECT_EQ(open(pool_), "");
  EXPECT_EQ(record().token, token);
  EXPECT_EQ(token_in(".cairn-claim"), token);
}

// As on a file system of a network: nothing but the token is compared there.
TEST_F(SameDirectory, WithoutATimeOfCreationOnlyTheTokenCounts) {
  keep_something();
  set_lower_hook([](const LowerCall& call) { return call.number == SYS_statx ? EPERM : 0; });
  EXPECT_EQ(open(pool_), "");
  remove_claim();
  const std::string text = open(pool_, -ESTALE);
  EXPECT_NE(text.find("a directory other than the covered one"), std::string::npos) << text;
  EXPECT_NE(text.find("1 file (4 bytes): kept; last changed"), std::string::npos) << text;
  EXPECT_FALSE(fs::exists(lower_ + "/.cairn-claim"));
}

TEST_F(SameDirectory, AnotherDirectoryWithTheSameInodeNumberIsAnotherOne) {
  keep_something();
  remove_claim();
  record([](tier::CoverRecord& record) { ++record.marks.birth; });
  open(pool_, -ESTALE);
}

// Who can write to the covered directory can take the claim along.
TEST_F(SameDirectory, AClaimThatWasMovedIntoSomebodysDirectory) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  constexpr uid_t somebody = 12345;
  keep_something();
  const std::string old = lower_ + "-old";
  fs::rename(lower_, old);
  fs::create_directory(lower_);
  ASSERT_EQ(chown(lower_.c_str(), somebody, somebody), 0);
  fs::rename(old + "/.cairn-claim", lower_ + "/.cairn-claim");
  EXPECT_NE(open(pool_, -ESTALE).find("a directory other than the covered one"), std::string::npos);
}

TEST_F(SameDirectory, ACoverOfAnEarlierVersionGoesOn) {
  keep_something();
  const auto forget = [](tier::CoverRecord& record) {
    record.token.clear();
    record.owner = tier::no_owner;
    record.marks = {};
  };
  const std::string claim = get(lower_ + "/.cairn-claim");
  put(lower_ + "/.cairn-claim", claim.substr(0, claim.find("token ")));
  record(forget);
  EXPECT_EQ(open(pool_), "");
  EXPECT_EQ(record().token, token_in(".cairn-claim"));
  EXPECT_EQ(record().token.size(), 32U);
  // Nothing tells whether it is the same one: as before, it is taken for that, and that is said.
  record(forget);
  remove_claim();
  EXPECT_NE(open(pool_).find("an earlier version of Cairn covered it"), std::string::npos);
  EXPECT_EQ(Covered(pool_, lower_).read("kept"), "kept");
}

TEST_F(SameDirectory, AKilledAdoptionLeavesATokenThatIsKnown) {
  keep_something();
  const std::string text = get(lower_ + "/.cairn-claim");
  const std::string other(32, 'f');
  // Between the record that says both and the claim.
  const std::string token = record().token;
  record([&](tier::CoverRecord& record) {
    record.earlier_token = record.token;
    record.token = other;
  });
  set_lower_hook([](const LowerCall& call) { return call.number == SYS_statx ? EPERM : 0; });
  EXPECT_EQ(open(pool_), "");
  EXPECT_EQ(record().token, token);
}

class DrainTo : public SameDirectory {
 protected:
  void SetUp() override {
    Covered covered(pool_, lower_);
    ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, "d", 0755), 0);
    ASSERT_EQ(covered.create("a", std::string(3 << 20, 'a')), 0);
    ASSERT_EQ(covered.create("d/b", "b"), 0);
    ASSERT_EQ(cairn_symlink(covered.pool, "a", covered.top, "link"), 0);
    shown_ = covered.describe();
    fs::remove_all(lower_);
    fs::create_directory(lower_);
    fs::create_directory(to_);
  }
  int drain(cairn_drain_to_report* report) {
    cairn_pool* pool = nullptr;
    EXPECT_EQ(cairn_pool_attach(pool_.c_str(), 0, &pool), 0) << cairn_last_error();
    cairn_cover* cover = nullptr;
    EXPECT_EQ(cairn_cover_join_kept(pool, lower_.c_str(), &cover), 0) << cairn_last_error();
    *report = {};
    report->struct_size = sizeof *report;
    const int result = cairn_cover_drain_to(cover, to_.c_str(), nullptr, nullptr, nullptr, report);
    cairn_cover_close(cover);
    cairn_pool_detach(pool);
    return result;
  }

  const std::string to_ = disk_.path("to");
  std::map<std::string, std::string> shown_;
};

TEST_F(DrainTo, KilledAtEachCallItIsFinishedByTheNext) {
  bool ended = false;
  for (int last = 1; !ended && last < 200; ++last) {
    const pid_t child = fork();
    if (child == 0) {
      set_lower_hook([last, calls = 0](const LowerCall& call) mutable {
        for (long number : {SYS_renameat2, SYS_unlinkat, SYS_mkdirat, SYS_pwrite64, SYS_fsync,
                            SYS_utimensat, SYS_symlinkat})
          if (call.number == number && ++calls == last) kill(getpid(), SIGKILL);
        return 0;
      });
      cairn_drain_to_report report;
      _exit(drain(&report) == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ended = WIFEXITED(status);
    ASSERT_TRUE(!ended || WEXITSTATUS(status) == 0) << last;
  }
  EXPECT_TRUE(ended);
  cairn_drain_to_report report;
  EXPECT_EQ(drain(&report), 0) << cairn_last_error();
  EXPECT_EQ(report.drained.files, 0U) << "all of it was there";
  EXPECT_EQ(report.is_lost, 1U);
  std::set<std::string> names;
  for (const auto& [path, line] : describe(to_)) names.insert(path);
  std::set<std::string> wanted;
  for (const auto& [path, line] : shown_) wanted.insert(path);
  EXPECT_EQ(names, wanted) << "nothing is left that a killed drain wrote aside";
  EXPECT_EQ(get(to_ + "/a"), std::string(3 << 20, 'a'));
  EXPECT_EQ(get(to_ + "/d/b"), "b");
}

TEST_F(DrainTo, WhateverCallFailsIsTold) {
  for (long number : {SYS_renameat2, SYS_mkdirat, SYS_pwrite64, SYS_fsync, SYS_symlinkat}) {
    SCOPED_TRACE(number);
    fs::remove_all(to_);
    fs::create_directory(to_);
    set_lower_hook([number](const LowerCall& call) { return call.number == number ? ENOSPC : 0; });
    cairn_drain_to_report report;
    EXPECT_EQ(drain(&report), -ENOSPC);
    EXPECT_NE(report.drained.failed, 0U);
    set_lower_hook(nullptr);
    EXPECT_EQ(drain(&report), 0) << cairn_last_error();
    EXPECT_EQ(get(to_ + "/d/b"), "b");
  }
}

}  // namespace
}  // namespace cairn::test
