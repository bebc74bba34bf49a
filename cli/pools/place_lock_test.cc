#include "pools/place_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

namespace cairn::cli {
namespace {

using Mode = PlaceLock::Mode;

class PlaceLockTest : public ::testing::Test {
 protected:
  PlaceLockTest() {
    char name[] = "/tmp/cairn-place-lock-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~PlaceLockTest() override { std::filesystem::remove_all(directory_); }
  [[nodiscard]] bool is_there() const {
    return std::filesystem::exists(lock_path(directory_, "name"));
  }
  std::string directory_;
};

TEST_F(PlaceLockTest, TheLastToGoRemovesTheFile) {
  auto first = std::make_unique<PlaceLock>(directory_, "name", Mode::shared);
  auto second = std::make_unique<PlaceLock>(directory_, "name", Mode::shared);
  EXPECT_FALSE(PlaceLock(directory_, "name", Mode::exclusive, false).held());
  first.reset();
  EXPECT_TRUE(is_there());
  EXPECT_TRUE(second->change(Mode::exclusive, false));
  EXPECT_FALSE(PlaceLock(directory_, "name", Mode::shared, false).held());
  EXPECT_TRUE(is_there());
  second.reset();
  EXPECT_FALSE(is_there());
}

TEST_F(PlaceLockTest, WhoHasGivenItUpLeavesTheFileToOthers) {
  PlaceLock released(directory_, "name", Mode::exclusive);
  released.release();
  const PlaceLock other(directory_, "name", Mode::exclusive, false);
  EXPECT_TRUE(other.held());
}

TEST_F(PlaceLockTest, AFileThatAKilledProcessLeftIsUsedAndRemoved) {
  close(open(lock_path(directory_, "name").c_str(), O_CREAT | O_RDWR, 0600));
  EXPECT_TRUE(PlaceLock(directory_, "name", Mode::exclusive, false).held());
  EXPECT_FALSE(is_there());
}

// A process that waited on a file which the holder removed gets the lock on the file that follows.
TEST_F(PlaceLockTest, AnExclusiveLockIsAlone) {
  const std::string mark = directory_ + "/mark";
  constexpr int processes = 6;
  for (int i = 0; i < processes; ++i) {
    if (fork() != 0) continue;
    for (int round = 0; round < 500; ++round) {
      PlaceLock lock(directory_, "name", round % 3 == 0 ? Mode::shared : Mode::exclusive,
                     round % 5 != 0);
      if (round % 3 == 0 && lock.held()) {
        if (access(mark.c_str(), F_OK) == 0) _exit(2);
        lock.change(Mode::exclusive, round % 2 == 0);
      }
      if (!lock.held()) continue;
      if (mkdir(mark.c_str(), 0700) != 0) _exit(1);
      rmdir(mark.c_str());
    }
    _exit(0);
  }
  for (int i = 0; i < processes; ++i) {
    int status = 0;
    ASSERT_GT(wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_FALSE(is_there());
}

}  // namespace
}  // namespace cairn::cli
