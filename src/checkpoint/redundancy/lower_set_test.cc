#include "checkpoint/redundancy/lower_set.h"

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
