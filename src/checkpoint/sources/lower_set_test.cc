#include "checkpoint/sources/lower_set.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace cairn::checkpoint {
namespace {

class LowerSetTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/cairn-lower-XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  ~LowerSetTest() override { std::filesystem::remove_all(path_); }
  std::string path_;
};

TEST_F(LowerSetTest, OneDrainAtATime) {
  auto first = LowerSet::open(path_, "set", true);
  auto second = LowerSet::open(path_, "set", false);
  ASSERT_TRUE(first.ok() && second.ok()) << last_detail();
  {
    const auto held = first->lock(0);
    ASSERT_TRUE(held.ok()) << last_detail();
    EXPECT_EQ(second->lock(30'000'000).code(), EBUSY);
    EXPECT_NE(std::string(last_detail()).find("another process copies"), std::string::npos);
  }
  EXPECT_TRUE(second->lock(0).ok()) << last_detail();
}

TEST_F(LowerSetTest, TheLockIsNotFoundThroughALink) {
  auto set = LowerSet::open(path_, "set", true);
  ASSERT_TRUE(set.ok()) << last_detail();
  std::filesystem::create_symlink(path_ + "/elsewhere",
                                  path_ + "/.cairn-checkpoints/set/" + lower_lock);
  EXPECT_EQ(set->lock(0).code(), ELOOP);
  EXPECT_FALSE(std::filesystem::exists(path_ + "/elsewhere"));
}

TEST_F(LowerSetTest, AFileThatIsCutOffIsDamaged) {
  auto set = LowerSet::open(path_, "set", true);
  ASSERT_TRUE(set.ok()) << last_detail();
  ASSERT_TRUE(set->write_file("one", "abc", 3).ok());
  const auto file = set->open_file("one");
  ASSERT_TRUE(file.ok());
  char bytes[4];
  EXPECT_EQ(file->read(bytes, 4, 0).code(), EUCLEAN);
}

}  // namespace
}  // namespace cairn::checkpoint
