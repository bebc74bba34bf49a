#include "checkpoint/define/shared_contents.h"

#include <gtest/gtest.h>

#include "support/run_on_pool.h"

namespace cairn::checkpoint {
namespace {

using SharedContentsTest = RunOnPool;

TEST_F(SharedContentsTest, AreAgreedUntilADefinitionChanges) {
  begin();
  EXPECT_FALSE(contents.are_agreed());
  ASSERT_TRUE(contents.agree(run(), 256U << 10, 0).ok()) << last_detail();
  EXPECT_TRUE(contents.are_agreed());
  EXPECT_EQ(contents.agreed().contents.layout().variables(), 1U);
  EXPECT_EQ(contents.agreed().contents.layout().block_bytes(), 256U << 10);
  SampleArray other(5);
  contents.definitions().put("u", other.definition());
  EXPECT_FALSE(contents.are_agreed());
  ASSERT_TRUE(contents.agree(run(), 0, 0).ok()) << last_detail();
  EXPECT_EQ(contents.agreed().contents.layout().variables(), 2U);
  EXPECT_EQ(contents.agreed().contents.layout().block_bytes(), 1U << 20) << "the default";
  end();
}

TEST_F(SharedContentsTest, ADisagreementLeavesThemOpen) {
  begin();
  Definition gap = array.definition();
  gap.whole = whole_of(1, {200});  // the box of the only rank does not cover it
  contents.definitions().put("t", std::move(gap));
  EXPECT_EQ(contents.agree(run(), 0, 0).code(), EINVAL);
  EXPECT_FALSE(contents.are_agreed());
  end();
}

}  // namespace
}  // namespace cairn::checkpoint
