#include "media/own_place.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

namespace cairn::media {
namespace {

namespace fs = std::filesystem;
constexpr uid_t mallory = 61002;

class OwnPlaceTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    chmod(directory_.c_str(), 01777);
  }
  void TearDown() override { fs::remove_all(directory_); }

  [[nodiscard]] std::string usual() const {
    return directory_ + "/cairn-" + std::to_string(geteuid());
  }
  // Gives the directory another owner, as if another user had made it.
  static void give_away(const std::string& path) {
    ASSERT_EQ(lchown(path.c_str(), mallory, mallory), 0);
  }
  void take_usual() {
    if (geteuid() != 0) GTEST_SKIP() << "only root can play another user";
    fs::create_directory(usual());
    give_away(usual());
  }
  [[nodiscard]] std::string place(bool create = true) const {
    auto found = own_place(directory_, create);
    EXPECT_TRUE(found.ok()) << last_detail();
    return found.ok() ? found->path : "";
  }

  std::string directory_ = testing::TempDir() + "/cairn-own-place-XXXXXX";
};

TEST_F(OwnPlaceTest, HasTheUsersNumber) {
  EXPECT_EQ(place(false), usual());
  EXPECT_FALSE(fs::exists(usual()));
  EXPECT_EQ(place(), usual());
  struct stat st {};
  ASSERT_EQ(stat(usual().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode, S_IFDIR | 0700U);
  EXPECT_EQ(place(), usual());
}

TEST_F(OwnPlaceTest, OfTheUserMustBeADirectoryThatIsClosed) {
  fs::create_directory(usual());
  chmod(usual().c_str(), 0755);
  EXPECT_EQ(own_place(directory_, true).status().code(), EACCES);
  EXPECT_NE(std::string(last_detail()).find("mode 0755"), std::string::npos);
  fs::remove(usual());
  ASSERT_EQ(symlink("/", usual().c_str()), 0);
  EXPECT_EQ(own_place(directory_, true).status().code(), ENOTDIR);
}

TEST_F(OwnPlaceTest, HasAnotherNameWhereAnotherUserHasTakenThis) {
  take_usual();
  if (IsSkipped()) return;
  EXPECT_EQ(own_place(directory_, false).status().code(), ENOENT);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
  auto found = own_place(directory_, true);
  ASSERT_TRUE(found.ok()) << last_detail();
  EXPECT_EQ(own_place(directory_, false)->path, found->path);
  EXPECT_EQ(found->taken_by, mallory);
  EXPECT_EQ(found->path.substr(0, usual().size() + 1), usual() + "-");
  struct stat st {};
  ASSERT_EQ(lstat(found->path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode, S_IFDIR | 0700U);
  // All processes find the same place, also when the name is free again.
  EXPECT_EQ(place(), found->path);
  fs::remove(usual());
  EXPECT_EQ(place(), found->path);
  EXPECT_FALSE(fs::exists(usual()));
}

TEST_F(OwnPlaceTest, CannotBeTakenByNamesOfThatForm) {
  take_usual();
  if (IsSkipped()) return;
  for (const char* name : {"-aaaaaa", "-AAAAAA", "-XXXXXX", "-000000"}) {
    fs::create_directory(usual() + name);
    chmod((usual() + name).c_str(), 0700);
    give_away(usual() + name);
  }
  // These directories belong to the user, but were not made for this, or are open to others.
  fs::create_directory(usual() + "-longer1");
  fs::create_directory(usual() + "-open00");
  chmod((usual() + "-open00").c_str(), 0777);
  ASSERT_EQ(symlink("/", (usual() + "-link00").c_str()), 0);
  const std::string found = place();
  struct stat st {};
  ASSERT_EQ(lstat(found.c_str(), &st), 0);
  EXPECT_EQ(st.st_uid, geteuid());
  EXPECT_EQ(st.st_mode, S_IFDIR | 0700U);
  EXPECT_EQ(place(), found);
}

TEST_F(OwnPlaceTest, IsMadeOnceByThreadsThatNeedItTogether) {
  take_usual();
  if (IsSkipped()) return;
  constexpr size_t threads = 8;
  std::vector<std::string> found(threads);
  std::vector<std::thread> all;
  all.reserve(threads);
  for (std::string& one : found) all.emplace_back([&] { one = place(); });
  for (std::thread& one : all) one.join();
  EXPECT_EQ(std::set<std::string>(found.begin(), found.end()).size(), 1);
}

TEST_F(OwnPlaceTest, IsMadeAlsoWhileAnotherUserLocksTheDirectory) {
  take_usual();
  if (IsSkipped()) return;
  const int lock = open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  const std::string found = place();
  close(lock);
  EXPECT_EQ(found, place());
}

}  // namespace
}  // namespace cairn::media
