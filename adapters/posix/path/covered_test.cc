// Decides whether a path is covered: without a pool, by the names of covered directories alone.
#include "posix/path/covered.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "posix/fd/table.h"
#include "posix/path/cwd.h"

namespace posix {
namespace {

// Below a directory of its own: "job" is covered, "link" is another spelling of it.
class CoveredTest : public testing::Test {
 protected:
  CoveredTest() {
    EXPECT_NE(mkdtemp(base_.data()), nullptr);
    char real[PATH_MAX];
    base_ = realpath(base_.c_str(), real);
    for (const char* name : {"/job", "/job2", "/other", "/other/job"})
      EXPECT_EQ(mkdir((base_ + name).c_str(), 0700), 0);
    job_ = base_ + "/job";
    link_ = base_ + "/link";
    covers[0].path = job_.c_str();
    covers[0].length = job_.size();
    cover_count = 1;
    spellings[0] = {job_.c_str(), job_.size(), &covers[0]};
    spellings[1] = {link_.c_str(), link_.size(), &covers[0]};
    spelling_count = 2;
    coverage.store(2);
    work_in("/");
  }
  ~CoveredTest() override {
    for (const int fd : fds_) {
      table::leave(fd);
      close(fd);
    }
    work_in("/");
    coverage.store(1);
    cover_count = spelling_count = 0;
    for (const char* name : {"/other/job", "/other", "/job2", "/job", ""})
      rmdir((base_ + name).c_str());
  }

  static void work_in(const std::string& directory) {
    EXPECT_EQ(chdir(directory.c_str()), 0);
    cwd::moved_outside();
  }
  int open_directory(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_GE(fd, 0);
    fds_.push_back(fd);
    return fd;
  }
  // A descriptor as the adapter enters it for a file or a directory of the pool.
  int open_ours(Kind kind, cairn_ino ino) {
    const int fd = open_directory("/");
    Entry* entry = table::make(kind, nullptr);
    entry->ino = ino;
    entry->cover = &covers[0];
    table::enter(fd, entry);
    table::drop(entry);
    return fd;
  }

  // Returns the rest to walk in the cover, or "outside".
  static std::string left(int dir, const std::string& path) {
    CoveredPath spot;
    EXPECT_EQ(locate(dir, path.c_str(), &spot), 0);
    if (spot.cover == nullptr) return "outside";
    EXPECT_EQ(spot.cover, &covers[0]);
    EXPECT_FALSE(outside(dir, path.c_str())) << path;
    return spot.path;
  }
  static std::string left(const std::string& path) { return left(AT_FDCWD, path); }
  static int descriptor_of(const std::string& path) {
    CoveredPath spot;
    EXPECT_EQ(locate(AT_FDCWD, path.c_str(), &spot), 0);
    EXPECT_EQ(spot.cover, nullptr);
    return spot.descriptor;
  }

  std::string base_ = "/tmp/cairn-covered-test-XXXXXX";
  std::string job_, link_;
  std::vector<int> fds_;
};

TEST_F(CoveredTest, TellsWhatIsLeftBelowTheCover) {
  EXPECT_EQ(left(job_), "");
  EXPECT_EQ(left(job_ + "/"), "");
  EXPECT_EQ(left(job_ + "/a/b"), "a/b");
  EXPECT_EQ(left(job_ + "//a//b/"), "a//b/");
  EXPECT_EQ(left(link_ + "/a"), "a");
}

TEST_F(CoveredTest, LeavesDirectoriesWhoseNamesBeginAlike) {
  EXPECT_EQ(left(job_ + "2/a"), "outside");
  EXPECT_EQ(left(job_ + ".old"), "outside");
  EXPECT_EQ(left(job_.substr(0, job_.size() - 1)), "outside");
  EXPECT_EQ(left(base_), "outside");
  EXPECT_EQ(left(base_ + "/other/job/a"), "outside");
}

TEST_F(CoveredTest, FoldsDotsUpToTheCoverAndLeavesThoseBelowToTheWalk) {
  EXPECT_EQ(left(base_ + "/./job/a"), "a");
  EXPECT_EQ(left(base_ + "//job/a"), "a");
  EXPECT_EQ(left(base_ + "/other/../job/a"), "a");
  EXPECT_EQ(left("/../.." + job_ + "/a"), "a");
  EXPECT_EQ(left(job_ + "2/../other"), "outside");
  EXPECT_EQ(left(base_ + "/.../job"), "outside");
  EXPECT_EQ(left(job_ + "/../job2"), "../job2");
  EXPECT_EQ(left(job_ + "/./a/.."), "./a/..");
}

TEST_F(CoveredTest, StartsRelativePathsFromTheWorkingDirectory) {
  EXPECT_EQ(left(job_.substr(1) + "/a"), "a");
  work_in(base_);
  EXPECT_EQ(left("job/a"), "a");
  EXPECT_EQ(left("./job/a"), "a");
  EXPECT_EQ(left(".//job"), "");
  EXPECT_EQ(left("other/../job/a"), "a");
  EXPECT_EQ(left("job2/a"), "outside");
  EXPECT_EQ(left("a/job"), "outside");
  EXPECT_EQ(left(""), "outside");
  work_in(base_ + "/other");
  EXPECT_EQ(left("job/a"), "outside");
  EXPECT_EQ(left("../job/a"), "a");
  EXPECT_EQ(left("job/../../job/a"), "a");
}

TEST_F(CoveredTest, StartsFromADirectoryOfThePool) {
  const int directory = open_ours(Kind::kDirectory, 7);
  CoveredPath spot;
  ASSERT_EQ(locate(directory, "../a", &spot), 0);
  EXPECT_EQ(spot.cover, &covers[0]);
  EXPECT_EQ(spot.dir, 7U);
  EXPECT_STREQ(spot.path, "../a");
  EXPECT_FALSE(outside(directory, "a"));
  EXPECT_EQ(left(directory, job_ + "/a"), "a") << "an absolute path does not need the directory";
  ASSERT_EQ(locate(directory, (job_ + "/a").c_str(), &spot), 0);
  EXPECT_EQ(spot.dir, 0U);
}

TEST_F(CoveredTest, WalksFromNoFile) {
  const int file = open_ours(Kind::kFile, 7);
  CoveredPath spot;
  EXPECT_EQ(locate(file, "a", &spot), -ENOTDIR);
  EXPECT_EQ(locate(file, "", &spot), -ENOENT);
}

TEST_F(CoveredTest, RemembersOpenDirectoriesAboveTheCover) {
  const int above = open_directory(base_);
  const int beside = open_directory(base_ + "/other");
  note_directory(above, AT_FDCWD, base_.c_str());
  note_directory(beside, AT_FDCWD, (base_ + "/other").c_str());
  EXPECT_EQ(left(above, "job/a"), "a");
  EXPECT_EQ(left(above, "job2/a"), "outside");
  EXPECT_EQ(left(beside, "job/a"), "outside");
  EXPECT_EQ(left(beside, "../job/a"), "a");
  EXPECT_TRUE(outside(beside, "job/a"));
  EXPECT_EQ(table::covered_fds.load(), 0) << "neither is a file of the pool";
}

TEST_F(CoveredTest, TakesNoNoteOfTheCoverItself) {
  const int fd = open_directory(job_);
  note_directory(fd, AT_FDCWD, job_.c_str());
  EXPECT_EQ(table::peek(fd), nullptr);
}

TEST_F(CoveredTest, KnowsTheNamesOfDescriptors) {
  const int file = open_ours(Kind::kFile, 7);
  const std::string number = std::to_string(file);
  const std::string own = "/proc/" + std::to_string(getpid()) + "/fd/";
  for (const std::string& path : {"/proc/self/fd/" + number, "/dev/fd/" + number,
                                  "/proc/thread-self/fd/" + number, own + number}) {
    EXPECT_EQ(descriptor_of(path), file) << path;
    EXPECT_FALSE(outside(path.c_str())) << path;
  }
  const int theirs = open_directory("/");
  const std::string below = "/proc/self/fd/";
  const std::vector<std::string> others = {below + number + "x",
                                           below,
                                           below + "-1",
                                           below + std::to_string((int64_t{1} << 32) + file),
                                           below + std::to_string(theirs),
                                           below + number + "/a",
                                           "/proc/1/fd/" + number};
  for (const std::string& path : others) EXPECT_EQ(descriptor_of(path), -1) << path;
}

TEST_F(CoveredTest, WalksFromADescriptorsName) {
  const int directory = open_ours(Kind::kDirectory, 9);
  const std::string path = "/proc/self/fd/" + std::to_string(directory) + "//a/b";
  CoveredPath spot;
  ASSERT_EQ(locate(AT_FDCWD, path.c_str(), &spot), 0);
  EXPECT_EQ(spot.cover, &covers[0]);
  EXPECT_EQ(spot.dir, 9U);
  EXPECT_STREQ(spot.path, "a/b");
  EXPECT_FALSE(outside(path.c_str()));
}

TEST_F(CoveredTest, SendsOtherPathsOnImmediately) {
  work_in(base_ + "/other");
  for (const char* path :
       {"/etc/passwd", "/usr/lib/a", "a", "job/a", "/dev/fd/0", "/proc/self/exe"})
    EXPECT_TRUE(outside(path)) << path;
  const char* nowhere = reinterpret_cast<const char*>(1);
  EXPECT_TRUE(outside(nowhere)) << "the system's call returns EFAULT";
}

TEST_F(CoveredTest, CoversNothingBelowTooLongAPath) {
  const std::string longest(3 * PATH_MAX, 'a');
  EXPECT_EQ(left("/" + longest + "/.." + job_), "outside");
  std::string deep;
  for (int i = 0; i < 2 * PATH_MAX; ++i) deep += "/a";
  EXPECT_EQ(left(deep + job_), "outside");
}

TEST_F(CoveredTest, LeavesErrnoAsItIs) {
  const int theirs = open_directory("/");
  CoveredPath spot;
  for (const int dir : {AT_FDCWD, theirs, 12345}) {
    errno = EDOM;
    EXPECT_EQ(locate(dir, "a", &spot), 0);
    EXPECT_EQ(errno, EDOM);
  }
}

// outside() is fast. It must return false for every path that locate() finds covered.
TEST_F(CoveredTest, NeverSaysOutsideOfWhatIsCovered) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string top = base_.substr(base_.rfind('/') + 1);
  const std::vector<std::string> parts = {"/", "/",   "/",    ".",    "..",    "tmp",
                                          top, "job", "job2", "link", "other", "a"};
  int covered = 0;
  for (const std::string& directory :
       {std::string("/"), std::string("/tmp"), base_, base_ + "/other"}) {
    work_in(directory);
    for (int round = 0; round < 5000; ++round) {
      std::string path = random() % 2 == 0 ? "" : random() % 2 == 0 ? "/" : base_ + "/";
      for (auto length = random() % 8; length > 0; --length)
        path += parts[random() % parts.size()] + (random() % 2 == 0 ? "/" : "");
      CoveredPath spot;
      ASSERT_EQ(locate(AT_FDCWD, path.c_str(), &spot), 0);
      if (spot.cover == nullptr) continue;
      ++covered;
      ASSERT_FALSE(outside(path.c_str())) << path << " in " << directory;
    }
  }
  EXPECT_GT(covered, 100);
}

}  // namespace
}  // namespace posix
