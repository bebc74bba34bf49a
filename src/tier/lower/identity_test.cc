#include <gtest/gtest.h>
#include <unistd.h>

#include "tier/lower/lower.h"

namespace cairn::tier {
namespace {

constexpr uint32_t user = 61001;
constexpr uint32_t somebody = 61002;

class Identity : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
    ASSERT_EQ(seteuid(user), 0);
  }
  void TearDown() override { ASSERT_EQ(seteuid(getuid()), 0); }

  file::LowerIdentity of(uint32_t owner) const {
    struct stat st = {};
    st.st_ino = 7;
    st.st_uid = owner;
    st.st_mtim = {1'700'000'000, 5};
    return directory_identity(known_, st, 0);
  }
  Known known_;
};

TEST_F(Identity, OfADirectoryHasAnOwner) {
  EXPECT_TRUE(is_same_directory(of(somebody), of(somebody)));
  EXPECT_FALSE(is_same_directory(of(user), of(somebody)));
  EXPECT_FALSE(is_same_directory(of(0), of(somebody)));
  // Nobody else can make these.
  EXPECT_TRUE(is_same_directory(of(somebody), of(user)));
  EXPECT_TRUE(is_same_directory(of(somebody), of(0)));
}

TEST_F(Identity, OfADirectoryFromAnEarlierVersionHasNone) {
  for (const uint64_t mtime : {uint64_t{0}, uint64_t{1'700'000'000'000'000'005}, ~uint64_t{0}}) {
    file::LowerIdentity before = of(user);
    before.mtime = mtime;
    EXPECT_TRUE(is_same_directory(before, of(somebody)));
  }
}

TEST_F(Identity, OfADirectoryInAUserNamespaceMayHaveNone) {
  constexpr uint32_t unknown = 65534;
  EXPECT_TRUE(is_same_directory(of(somebody), of(unknown)));
  EXPECT_TRUE(is_same_directory(of(unknown), of(somebody)));
}

TEST_F(Identity, OfADirectoryHasNoOwnerForRoot) {
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_TRUE(is_same_directory(of(user), of(somebody)));
}

}  // namespace
}  // namespace cairn::tier
