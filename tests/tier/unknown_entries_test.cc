// What others put into the covered directory meanwhile: it outlives the directory that the job
// removes.
#include <sys/stat.h>
#include <unistd.h>

#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

class UnknownEntriesTest : public CoverTest {
 protected:
  void SetUp() override {
    make_pool();
    put_some_files();
    usleep(20000);
  }
  // As rm -r does it.
  void remove_all(Covered& covered, const std::string& path) {
    for (const std::string& name : covered.list(path)) {
      const std::string below = path + "/" + name;
      if (S_ISDIR(covered.stat(below).mode))
        remove_all(covered, below);
      else
        EXPECT_EQ(cairn_unlink(covered.pool, covered.top, below.c_str()), 0) << below;
    }
    EXPECT_EQ(cairn_rmdir(covered.pool, covered.top, path.c_str()), 0) << path;
  }
  // Others make `path`; the job works in `place`, is drained, and removes `directory`.
  void expect_kept(const std::string& path, const std::string& place,
                   const std::string& directory) {
    Covered covered(pool_, lower_);
    covered.describe();  // all is imported
    put(lower_ + "/" + path, "theirs");
    usleep(20000);
    EXPECT_EQ(covered.create(place, "ours"), 0);
    EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
    remove_all(covered, directory);
    EXPECT_EQ(covered.drain().report.conflicts, 1U);
    EXPECT_EQ(get(lower_ + "/" + path), "theirs");
  }
};

TEST_F(UnknownEntriesTest, BesideWhatIsDrained) {
  expect_kept("dir/deep/theirs", "dir/deep/c", "dir/deep");
}

TEST_F(UnknownEntriesTest, AboveWhatIsDrained) { expect_kept("dir/theirs", "dir/deep/c", "dir"); }

TEST_F(UnknownEntriesTest, BelowWhatIsDrained) { expect_kept("dir/deep/theirs", "dir/c", "dir"); }

TEST_F(UnknownEntriesTest, InADirectoryThatBothMade) {
  Covered covered(pool_, lower_);
  covered.list(".");
  fs::create_directories(lower_ + "/new/below");
  put(lower_ + "/new/below/theirs", "theirs");
  usleep(20000);
  ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, "new", 0755), 0);
  ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, "new/below", 0755), 0);
  ASSERT_EQ(covered.create("new/ours", "o"), 0);
  EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/new/ours"), "o");
  remove_all(covered, "new");
  EXPECT_EQ(covered.drain().report.conflicts, 1U);
  EXPECT_EQ(get(lower_ + "/new/below/theirs"), "theirs");
}

// What both made: the one that lies there is closed to others, and the job's is not.
TEST_F(UnknownEntriesTest, AClosedDirectoryIsNotOpenedByTheJobsOfThatName) {
  Covered covered(pool_, lower_);
  covered.list(".");
  fs::create_directory(lower_ + "/new");
  put(lower_ + "/new/theirs", "theirs");
  ASSERT_EQ(chmod((lower_ + "/new").c_str(), 0700), 0);
  ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, "new", 0755), 0);
  ASSERT_EQ(covered.create("new/ours", "o"), 0);
  const Drained drained = covered.drain();
  EXPECT_NE(drained.code, 0);
  EXPECT_EQ(drained.report.conflicts, 1U);
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/new").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700U);
  EXPECT_FALSE(fs::exists(lower_ + "/new/ours"));
  EXPECT_EQ(covered.read("new/ours"), "o");
  // Moved away, it is in nobody's way.
  fs::rename(lower_ + "/new", lower_ + "/old");
  EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/new/ours"), "o");
}

// As another node of the job leaves it, which is not done with it yet.
TEST_F(UnknownEntriesTest, ADirectoryThatADrainHasNotFinishedIsTakenOver) {
  Covered covered(pool_, lower_);
  covered.list(".");
  fs::create_directory(lower_ + "/new");
  put(lower_ + "/new/of another node", "n");
  ASSERT_EQ(chmod((lower_ + "/new").c_str(), 01700), 0);
  ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, "new", 0755), 0);
  ASSERT_EQ(covered.create("new/ours", "o"), 0);
  EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/new").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0755U);
}

// Somebody exchanges two directories. Neither gets what the job has made of the other one.
TEST_F(UnknownEntriesTest, ExchangedDirectories) {
  fs::create_directory(lower_ + "/private");
  put(lower_ + "/private/secret", "secret");
  ASSERT_EQ(chmod((lower_ + "/private").c_str(), 0700), 0);
  Covered covered(pool_, lower_);
  covered.describe();
  ASSERT_EQ(cairn_chmod(covered.pool, covered.stat("dir").ino, 0, 0777), 0);
  ASSERT_EQ(covered.create("dir/new", "n"), 0);
  fs::rename(lower_ + "/private", lower_ + "/aside");
  fs::rename(lower_ + "/dir", lower_ + "/private");
  fs::rename(lower_ + "/aside", lower_ + "/dir");
  const Drained drained = covered.drain();
  EXPECT_NE(drained.code, 0);
  EXPECT_GE(drained.report.conflicts, 1U);
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/dir").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700U);
  EXPECT_FALSE(fs::exists(lower_ + "/dir/new"));
  EXPECT_EQ(get(lower_ + "/dir/secret"), "secret");
}

// The job removes a directory; by then another one has its name.
TEST_F(UnknownEntriesTest, ARemovedDirectoryThatWasExchanged) {
  fs::create_directory(lower_ + "/private");
  put(lower_ + "/private/secret", "secret");
  usleep(20000);
  Covered covered(pool_, lower_);
  covered.describe();
  remove_all(covered, "dir");
  fs::rename(lower_ + "/dir", lower_ + "/aside");
  fs::rename(lower_ + "/private", lower_ + "/dir");
  EXPECT_GE(covered.drain().report.conflicts, 1U);
  EXPECT_EQ(get(lower_ + "/dir/secret"), "secret");
}

// Its mode says who may write into it.
TEST_F(UnknownEntriesTest, AFifoIsTheJobsIfItIsTheSame) {
  Covered covered(pool_, lower_);
  covered.list(".");
  for (const char* name : {"same", "other"})
    ASSERT_EQ(cairn_mknod(covered.pool, covered.top, name, S_IFIFO | 0600), 0);
  for (const auto& [name, mode] : {std::pair("same", 0600U), std::pair("other", 0622U)}) {
    const std::string path = lower_ + "/" + name;
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
  }
  const Drained drained = covered.drain();
  EXPECT_EQ(drained.report.conflicts, 1U);
  ASSERT_EQ(drained.problems.size(), 1U);
  EXPECT_NE(drained.problems[0].find("other"), std::string::npos) << drained.problems[0];
}

TEST_F(UnknownEntriesTest, WhatWasInConflictIsKeptWithItsDirectory) {
  Covered covered(pool_, lower_);
  covered.describe();
  put(lower_ + "/dir/deep/b", "theirs, longer");
  ASSERT_EQ(covered.create("dir/deep/b", "ours"), 0);
  EXPECT_EQ(covered.drain().report.conflicts, 1U);
  remove_all(covered, "dir");
  EXPECT_EQ(covered.drain().report.conflicts, 1U);
  EXPECT_EQ(get(lower_ + "/dir/deep/b"), "theirs, longer");
}

TEST_F(UnknownEntriesTest, OnceItIsGoneTheDirectoryCanGo) {
  Covered covered(pool_, lower_);
  covered.describe();
  put(lower_ + "/dir/deep/theirs", "theirs");
  usleep(20000);
  ASSERT_EQ(covered.create("dir/deep/c", "ours"), 0);
  ASSERT_EQ(covered.drain().code, 0);
  fs::remove(lower_ + "/dir/deep/theirs");
  ASSERT_EQ(covered.drain().code, 0);
  remove_all(covered, "dir");
  expect_drained(covered);
  EXPECT_FALSE(fs::exists(lower_ + "/dir"));
}

// A file's ctime moves on when a drain replaces another name of it, too. Here one does so that does
// not come to removing, because of a conflict.
TEST_F(UnknownEntriesTest, WhatADrainDoesWithOtherNamesIsNoChange) {
  Covered covered(pool_, lower_);
  covered.describe();
  ASSERT_EQ(covered.create("dir/deep/one", "1"), 0);
  ASSERT_EQ(cairn_link(covered.pool, covered.top, "dir/deep/one", covered.top, "two", 0), 0);
  ASSERT_EQ(covered.drain().code, 0);
  usleep(20000);
  remove_all(covered, "dir");
  ASSERT_EQ(covered.write("two", "2"), 0);
  ASSERT_EQ(covered.create("clash", "ours"), 0);
  put(lower_ + "/clash", "theirs");
  EXPECT_EQ(covered.drain().report.conflicts, 1U);
  fs::remove(lower_ + "/clash");
  usleep(20000);
  expect_drained(covered);
  EXPECT_FALSE(fs::exists(lower_ + "/dir"));
}

class RemovedThereTest : public UnknownEntriesTest {};

TEST_F(RemovedThereTest, ADirectoryIsMadeAgainForWhatIsNewInIt) {
  Covered covered(pool_, lower_);
  covered.describe();
  ASSERT_EQ(covered.create("dir/drained", "d"), 0);
  ASSERT_EQ(covered.drain().code, 0);
  fs::remove_all(lower_ + "/dir");
  ASSERT_EQ(cairn_chmod(covered.pool, covered.stat("dir/deep").ino, 0, 0750), 0);
  ASSERT_EQ(covered.create("dir/deep/new", "n"), 0);
  const Drained drained = covered.drain();
  EXPECT_EQ(drained.code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/dir/deep/new"), "n");
  EXPECT_EQ(fs::status(lower_ + "/dir/deep").permissions(), fs::perms{0750});
  // As a file that nobody has changed here stays removed.
  EXPECT_FALSE(fs::exists(lower_ + "/dir/drained"));
  EXPECT_FALSE(fs::exists(lower_ + "/dir/a"));
  const Drained again = covered.drain();
  EXPECT_EQ(again.code, 0) << cairn_last_error();
  EXPECT_EQ(again.report.files + again.report.directories, 0U);
}

TEST_F(RemovedThereTest, ADirectoryStaysSoIfNothingIsToBeWrittenInIt) {
  Covered covered(pool_, lower_);
  covered.describe();
  fs::remove_all(lower_ + "/dir");
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "dir/deep/b"), 0);
  EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
  EXPECT_FALSE(fs::exists(lower_ + "/dir"));
  ASSERT_EQ(covered.create("dir/deep/late", "l"), 0);
  EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/dir/deep/late"), "l");
}

TEST_F(RemovedThereTest, ADirectoryBelowOneThatIsMovedHereIsNot) {
  Covered covered(pool_, lower_);
  covered.describe();
  ASSERT_EQ(cairn_rename(covered.pool, covered.top, "dir", covered.top, "other", 0), 0);
  ASSERT_EQ(covered.create("other/deep/new", "n"), 0);
  expect_drained(covered);
}

}  // namespace
}  // namespace cairn::test
