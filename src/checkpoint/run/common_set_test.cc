#include "checkpoint/run/common_set.h"

#include <gtest/gtest.h>

#include "support/fake_transport.h"
#include "support/fresh_pool.h"

namespace cairn::checkpoint {
namespace {

constexpr Uuid fresh = {1};
constexpr Uuid in_pool = {2};
constexpr Uuid in_lower = {3};

class CommonSet : public file::FreshPool {
 protected:
  CommonSet() { job_.nodes = 2; }
  // The other node says that its pool has this set.
  void other_has(const Uuid& uuid) {
    job_.as_others_say = [uuid](uint32_t, void* bytes) {
      auto* const says = static_cast<uint8_t*>(bytes);
      std::memcpy(says, uuid.data(), uuid.size());
      const uint32_t is_there = 1;
      std::memcpy(says + 2 * sizeof(Uuid) + sizeof(int32_t), &is_there, sizeof is_there);
    };
  }
  void make_set() {
    EXPECT_TRUE(SetFile::open_or_make(*fs, "field", in_pool).ok()) << last_detail();
  }
  Result<Uuid> agree(const std::optional<Uuid>& lower = {}) {
    FakeTransport exchange(&job_);
    return agree_on_set(&exchange, true, *fs, "field", lower, fresh);
  }
  FakeTransport::Job job_;
};

TEST_F(CommonSet, IsAFreshOneIfThereIsNone) {
  const auto uuid = agree();
  ASSERT_TRUE(uuid.ok());
  EXPECT_EQ(*uuid, fresh);
}

TEST_F(CommonSet, IsTheOneOfAPool) {
  make_set();
  const auto own = agree();
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(*own, in_pool);
}

TEST_F(CommonSet, IsTheOneThatOnlyAnotherPoolHas) {
  other_has(in_pool);
  const auto found = agree();
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, in_pool);
}

TEST_F(CommonSet, IsTheOneInLowerIfThePoolsAreEmpty) {
  const auto found = agree(in_lower);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, in_lower);
}

TEST_F(CommonSet, TwoSetsOfOneNameAreRefused) {
  make_set();
  other_has(fresh);
  EXPECT_EQ(agree().code(), EUCLEAN);
  EXPECT_NE(std::string(last_detail()).find("node 0 and node 1"), std::string::npos);
  other_has(in_pool);
  EXPECT_TRUE(agree().ok());
  EXPECT_EQ(agree(in_lower).code(), EUCLEAN) << "lower has another one";
}

}  // namespace
}  // namespace cairn::checkpoint
