// Who may cover a directory, with whom, and how a cover ends.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "tier/claim/temp_claim.h"
#include "tier/cover/covered_directory.h"
#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

class ClaimTest : public CoverTest {
 protected:
  void SetUp() override { make_pool(); }
  // cairn_cover_open from a process of its own.
  int open_elsewhere(const std::string& pool, const std::string& directory, const char* job,
                     std::string* detail = nullptr) {
    cairn_pool* attached = nullptr;
    EXPECT_EQ(cairn_pool_attach(pool.c_str(), 0, &attached), 0) << cairn_last_error();
    cairn_cover_options options = {};
    options.struct_size = sizeof options;
    options.job = job;
    options.keep = keep_ ? 1 : 0;
    cairn_cover* cover = nullptr;
    const int result = cairn_cover_open(attached, directory.c_str(), &options, &cover);
    if (detail != nullptr) *detail = cairn_last_error();
    cairn_cover_close(result == 0 ? cover : nullptr);
    cairn_pool_detach(attached);
    return result;
  }
  std::string second_pool(const std::string& name = "pool2") {
    const std::string path = shared_.path(name);
    cairn_pool_options options = {};
    options.struct_size = sizeof options;
    options.size = 16 << 20;
    EXPECT_EQ(cairn_pool_create(path.c_str(), &options), 0) << cairn_last_error();
    return path;
  }
  bool keep_ = false;
};

// Data that were kept on several hosts belong to the next job on them, whichever of them comes
// first.
TEST_F(ClaimTest, TheNextJobOnTheSamePoolsGoesOn) {
  keep_ = true;
  const std::string second = second_pool();
  const std::string third = second_pool("pool3");
  ASSERT_EQ(open_elsewhere(pool_, lower_, "one"), 0);
  ASSERT_EQ(open_elsewhere(second, lower_, "one"), 0);
  EXPECT_EQ(open_elsewhere(third, lower_, "two"), -EBUSY);
  EXPECT_EQ(open_elsewhere(second, lower_, "two"), 0) << cairn_last_error();
  EXPECT_EQ(open_elsewhere(pool_, lower_, "two"), 0) << cairn_last_error();
  EXPECT_EQ(open_elsewhere(third, lower_, "two"), 0) << cairn_last_error();
  // A job of the first one alone, and then one of both: the second one waits for the first.
  ASSERT_EQ(open_elsewhere(pool_, lower_, "three"), 0);
  std::thread first([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    EXPECT_EQ(open_elsewhere(pool_, lower_, "four"), 0);
  });
  EXPECT_EQ(open_elsewhere(second, lower_, "four"), 0) << cairn_last_error();
  first.join();
}

TEST_F(ClaimTest, WrongDirectories) {
  EXPECT_EQ(open_elsewhere(pool_, lower_ + "/missing", "j"), -ENOENT);
  put(lower_ + "/file", "x");
  EXPECT_EQ(open_elsewhere(pool_, lower_ + "/file", "j"), -ENOTDIR);
  EXPECT_EQ(open_elsewhere(pool_, pool_, "j"), -ELOOP);
  fs::create_directory(pool_ + "/below");
  EXPECT_EQ(open_elsewhere(pool_, pool_ + "/below", "j"), -ELOOP);
  EXPECT_EQ(open_elsewhere(pool_, fs::path(pool_).parent_path().string(), "j"), -ELOOP);
  EXPECT_FALSE(fs::exists(fs::path(pool_).parent_path() / ".cairn-claim"));
}

TEST_F(ClaimTest, CoversDoNotNest) {
  fs::create_directories(lower_ + "/dir/below");
  Covered covered(pool_, lower_ + "/dir");
  EXPECT_EQ(open_elsewhere(pool_, lower_ + "/dir/below", "j"), -ELOOP);
  EXPECT_EQ(open_elsewhere(pool_, lower_, "j"), -ELOOP);
  EXPECT_EQ(open_elsewhere(second_pool(), lower_ + "/dir/below", "j"), -ELOOP);
}

// The inner one was made first: the outer one does not show what it holds.
TEST_F(ClaimTest, ADirectoryBelowThatIsCoveredItselfIsNotEntered) {
  const std::string second = second_pool();
  const std::string inner = lower_ + "/dir/inner";
  fs::create_directories(inner);
  {
    Covered covered(second, inner);
    ASSERT_EQ(covered.create("new", "n"), 0);
  }
  Covered outer(pool_, lower_);
  EXPECT_EQ(outer.list("dir"), std::vector<std::string>{"inner"});
  EXPECT_EQ(outer.create("dir/inner/mine", "m"), -ELOOP);
  EXPECT_NE(std::string(cairn_last_error()).find(inner), std::string::npos) << cairn_last_error();
  ASSERT_EQ(cairn_pool_remove(second.c_str()), 0) << cairn_last_error();
  EXPECT_EQ(outer.create("dir/inner/mine", "m"), 0) << cairn_last_error();
}

TEST_F(ClaimTest, TheSameHostAndPoolJoin) {
  Covered covered(pool_, lower_);
  EXPECT_EQ(open_elsewhere(pool_, lower_, "another job"), 0);
  EXPECT_EQ(open_elsewhere(pool_, lower_, nullptr), 0);
  fs::create_directory_symlink(lower_, disk_.path("other-name"));
  Covered other(pool_, disk_.path("other-name"), true);
  EXPECT_EQ(other.top, covered.top);
  EXPECT_EQ(std::string(cairn_cover_path(other.cover)), lower_);
}

TEST_F(ClaimTest, AnotherJobIsRefusedWithItsName) {
  const std::string second = second_pool();
  Covered covered(pool_, lower_);  // job-1
  std::string detail;
  EXPECT_EQ(open_elsewhere(second, lower_, "job-2", &detail), -EBUSY);
  char host[256];
  gethostname(host, sizeof host);
  EXPECT_NE(detail.find("job-1"), std::string::npos) << detail;
  EXPECT_NE(detail.find(host), std::string::npos) << detail;
  EXPECT_EQ(open_elsewhere(second, lower_, nullptr, &detail), -EBUSY);
  // The same job on another pool (say, of another node) joins.
  EXPECT_EQ(open_elsewhere(second, lower_, "job-1", &detail), 0) << detail;
}

TEST_F(ClaimTest, AClaimOfAnotherHostCounts) {
  put(lower_ + "/.cairn-claim",
      "cairn claim 1\nhost far-away\nboot b\npool /dev/shm/p\nuuid 1\njob 77\ntime 1\n");
  std::string detail;
  EXPECT_EQ(open_elsewhere(pool_, lower_, "job-2", &detail), -EBUSY);
  EXPECT_NE(detail.find("far-away"), std::string::npos) << detail;
  EXPECT_EQ(open_elsewhere(pool_, lower_, "77", &detail), 0) << detail;
}

TEST_F(ClaimTest, AClaimOfANewerVersionIsNamedAsOne) {
  put(lower_ + "/.cairn-claim", "cairn claim 12\nowner far-away\n");
  std::string detail;
  EXPECT_EQ(open_elsewhere(pool_, lower_, "j", &detail), -EPROTONOSUPPORT);
  EXPECT_NE(detail.find(lower_ + "/.cairn-claim: is a claim of a newer version"), std::string::npos)
      << detail;
}

TEST_F(ClaimTest, WhatIsNoClaimCoversNothingBelow) {
  fs::create_directory(lower_ + "/below");
  put(lower_ + "/.cairn-claim", "notes of mine\n");
  std::string detail;
  EXPECT_EQ(open_elsewhere(pool_, lower_ + "/below", "j", &detail), 0) << detail;
}

TEST_F(ClaimTest, WhatSomebodyPutInPlaceOfTheClaimIsLeftToHim) {
  Covered covered(pool_, lower_);
  put(lower_ + "/.cairn-claim", "notes of mine\n");
  EXPECT_EQ(covered.discard(), 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/.cairn-claim"), "notes of mine\n");
}

TEST_F(ClaimTest, TheClaimOfALostPoolIsTakenOver) {
  const std::string second = second_pool();
  {
    Covered covered(pool_, lower_);
    ASSERT_EQ(covered.create("new", "n"), 0);  // killed, so to say: neither drained nor discarded
  }
  EXPECT_EQ(open_elsewhere(second, lower_, "job-2"), -EBUSY);
  ASSERT_EQ(cairn_pool_remove(pool_.c_str()), 0) << cairn_last_error();
  std::string detail;
  EXPECT_EQ(open_elsewhere(second, lower_, "job-2", &detail), 0) << detail;
  EXPECT_NE(get(lower_ + "/.cairn-claim").find("job job-2"), std::string::npos);
}

TEST_F(ClaimTest, TheClaimOfADrainedCoverThatNobodyUsesIsTakenOver) {
  const std::string second = second_pool();
  {
    Covered covered(pool_, lower_);
    ASSERT_EQ(covered.create("new", "n"), 0);
    ASSERT_EQ(covered.drain().code, 0) << cairn_last_error();
    EXPECT_EQ(open_elsewhere(second, lower_, "job-2"), -EBUSY);  // it is used
  }
  std::string detail;
  EXPECT_EQ(open_elsewhere(second, lower_, "job-2", &detail), 0) << detail;
}

// As `cairn run` does: it is not attached while its program runs, which need not be either.
TEST_F(ClaimTest, TheClaimOfARunUnderWayStands) {
  const std::string second = second_pool();
  int held = -1;
  {
    Covered covered(pool_, lower_);
    held = cairn_cover_hold(covered.cover);
    ASSERT_GE(held, 0) << cairn_last_error();
  }
  EXPECT_EQ(open_elsewhere(second, lower_, "job-2"), -EBUSY);
  close(held);
  std::string detail;
  EXPECT_EQ(open_elsewhere(second, lower_, "job-2", &detail), 0) << detail;
}

// A FIFO hung, a link to /dev/zero took all memory.
TEST_F(ClaimTest, WhatIsNoFileUnderTheClaimsNameIsRefused) {
  const std::string claim = lower_ + "/.cairn-claim";
  const auto refused = [&](const char* what) {
    SCOPED_TRACE(what);
    std::string detail;
    EXPECT_EQ(open_elsewhere(pool_, lower_, "j", &detail), -EUCLEAN);
    EXPECT_NE(detail.find(claim + ": has the name of a Cairn claim, but is not one"),
              std::string::npos)
        << detail;
    EXPECT_NE(detail.find("move it away"), std::string::npos) << detail;
    EXPECT_TRUE(fs::exists(fs::symlink_status(claim)));
    fs::remove(claim);
  };
  ASSERT_EQ(mkfifo(claim.c_str(), 0600), 0);
  refused("a FIFO");
  fs::create_symlink("/dev/zero", claim);
  refused("a link");
  fs::create_directory(claim);
  refused("a directory");
  put(claim, std::string((64 << 10) + 1, 'x'));
  refused("a large file");
  put(claim, "");
  refused("an empty file");
  put(claim, "notes of mine\n");
  refused("somebody's text");
  put(claim, "cairn claim 1\nhost far-away\nboot b\n");
  refused("half a claim");
  std::string detail;
  EXPECT_EQ(open_elsewhere(pool_, lower_, "j", &detail), 0) << detail;
}

// What a killed run had not linked to its name yet; what another one is about to link stays, and so
// does what only looks like it.
TEST_F(ClaimTest, WhatAKilledMakerLeftGoesWithTheNextClaimOrDrain) {
  int live[2];
  ASSERT_EQ(pipe(live), 0);
  char name[64] = "";
  const auto leave_one = [&](bool killed) {
    const pid_t maker = fork();
    if (maker == 0) {
      const std::string aside = tier::temp_claim_name();
      put(lower_ + "/" + aside, "cairn claim 1\n");
      const bool told =
          write(live[1], (aside + std::string(64, 0)).data(), sizeof name) == sizeof name;
      if (killed || !told) _exit(0);
      for (;;) pause();
    }
    EXPECT_EQ(read(live[0], name, sizeof name), static_cast<ssize_t>(sizeof name));
    if (killed) waitpid(maker, nullptr, 0);
    return std::pair{lower_ + "/" + name, maker};
  };
  const auto living = leave_one(false);
  const std::string& stays = living.first;
  const pid_t maker = living.second;
  const std::string recent = lower_ + "/.cairn-claim-0123456789abcdef0123456789abcdef";
  const std::string old = lower_ + "/.cairn-claim-0123456789abcdef0123456789abcde0";
  const std::string joined = lower_ + "/.cairn-claim-of-0123456789abcdef0123456789abcdef";
  const std::string users = lower_ + "/.cairn-claim-notes";
  for (const std::string& path : {recent, old, joined, users}) put(path, "x");
  const timespec long_ago[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  for (const std::string& path : {old, joined, users})
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
  const std::string first = leave_one(true).first;
  ASSERT_EQ(utimensat(AT_FDCWD, lower_.c_str(), long_ago, 0), 0);
  const auto all_stay = [&] {
    for (const std::string& path : {stays, recent, joined, users})
      EXPECT_TRUE(fs::exists(path)) << path;
  };
  Covered covered(pool_, lower_);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_FALSE(fs::exists(old));
  all_stay();
  struct stat st {};
  ASSERT_EQ(stat(lower_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mtim.tv_sec, long_ago[0].tv_sec) << "the directory's times are the user's";
  const std::string second = leave_one(true).first;
  EXPECT_EQ(covered.drain().code, 0);
  EXPECT_FALSE(fs::exists(second));
  const std::string third = leave_one(true).first;
  fs::remove(joined);  // the claim would be handed on to it
  EXPECT_EQ(covered.discard(), 0) << cairn_last_error();
  EXPECT_FALSE(fs::exists(third));
  EXPECT_TRUE(fs::exists(stays));
  kill(maker, SIGKILL);
  waitpid(maker, nullptr, 0);
  Covered again(pool_, lower_);
  EXPECT_FALSE(fs::exists(stays));
  for (int end : live) close(end);
}

TEST_F(ClaimTest, JoiningNeedsACover) {
  cairn_pool* pool = nullptr;
  ASSERT_EQ(cairn_pool_attach(pool_.c_str(), 0, &pool), 0);
  cairn_cover* cover = nullptr;
  EXPECT_EQ(cairn_cover_join(pool, lower_.c_str(), &cover), -ENOENT);
  cairn_pool_detach(pool);
}

TEST_F(ClaimTest, DiscardingEndsTheCoverAndLeavesLowerAlone) {
  fs::create_directories(lower_ + "/dir/never-entered");
  put(lower_ + "/dir/a", "aaa");
  const auto before = describe(lower_);
  Covered covered(pool_, lower_);
  cairn_space space = {};
  ASSERT_EQ(cairn_statfs(covered.pool, &space), 0);
  ASSERT_EQ(covered.create("dir/new", std::string(1 << 20, 'n')), 0);
  ASSERT_EQ(covered.write("dir/a", "bbb"), 0);
  ASSERT_EQ(covered.discard(), 0) << cairn_last_error();
  EXPECT_FALSE(fs::exists(lower_ + "/.cairn-claim"));
  EXPECT_EQ(difference(describe(lower_), before), "");
  cairn_cover* cover = nullptr;
  EXPECT_EQ(cairn_cover_join(covered.pool, lower_.c_str(), &cover), -ENOENT);
  Covered again(pool_, lower_);
  EXPECT_EQ(again.read("dir/a"), "aaa");
}

TEST_F(ClaimTest, DiscardingIsRefusedWhileOthersAreIn) {
  Covered covered(pool_, lower_);
  int ready[2];
  int leave[2];
  ASSERT_EQ(pipe(ready) | pipe(leave), 0);
  const pid_t child = fork();
  if (child == 0) {
    // A program of its own: it has nothing of its parent's.
    cairn_pool* pool = nullptr;
    cairn_cover* cover = nullptr;
    const bool in = cairn_pool_attach(pool_.c_str(), 0, &pool) == 0 &&
                    cairn_cover_join(pool, lower_.c_str(), &cover) == 0;
    char c = in ? 'y' : 'n';
    if (write(ready[1], &c, 1) != 1 || read(leave[0], &c, 1) < 0) _exit(1);
    _exit(0);
  }
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  ASSERT_EQ(c, 'y');
  EXPECT_EQ(covered.discard(), -EBUSY);
  ASSERT_EQ(covered.create("still", "works"), 0);
  EXPECT_EQ(covered.read("still"), "works");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(covered.discard(), 0) << cairn_last_error();
}

}  // namespace
}  // namespace cairn::test
