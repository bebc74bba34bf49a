#include "checkpoint/session/joined_run.h"

#include <gtest/gtest.h>

#include "support/fake_transport.h"
#include "support/fresh_pool.h"

namespace cairn::checkpoint {
namespace {

class JoinedRunTest : public file::FreshPool {
 protected:
  JoinOrder order() { return {"field", fs.get(), {}, "", {}}; }
  std::unique_ptr<RunTransport> transport() { return std::make_unique<FakeTransport>(&job_); }
  FakeTransport::Job job_;
  SetView view_;
};

TEST_F(JoinedRunTest, OpensTheSetAndEndsTheRun) {
  JoinedRun joined(&view_);
  ASSERT_TRUE(joined.open(order(), nullptr, Status()).ok()) << last_detail();
  EXPECT_EQ(view_.set().name(), "field");
  EXPECT_EQ(joined.run()->ranks(), 1U);
  EXPECT_FALSE(joined.has_nodes());
  EXPECT_TRUE(joined.partners().holders.empty());
  SetView other_view;
  JoinedRun other(&other_view);
  EXPECT_EQ(other.open(order(), nullptr, Status()).code(), EBUSY) << "one run at a time";
  joined.keep();
  EXPECT_TRUE(joined.end(true).ok());
  JoinedRun next(&other_view);
  EXPECT_TRUE(next.open(order(), nullptr, Status()).ok()) << last_detail();
}

TEST_F(JoinedRunTest, AFailureOfThisProcessComesFirst) {
  JoinedRun joined(&view_);
  JoinOrder without = order();
  without.fs = nullptr;
  EXPECT_EQ(joined.open(without, nullptr, fail(EROFS, "read-only")).code(), EROFS);
  EXPECT_EQ(joined.open(without, nullptr, Status()).code(), ENODEV);
  JoinOrder elsewhere = order();
  elsewhere.lower = "/does/not/exist";
  EXPECT_EQ(joined.open(elsewhere, nullptr, Status()).code(), ENOENT);
  EXPECT_EQ(std::string(last_detail()).find("options.lower: "), 0U) << last_detail();
}

TEST_F(JoinedRunTest, OneNodeNeedsItsTransportOnlyToBegin) {
  JoinedRun joined(&view_);
  ASSERT_TRUE(joined.open(order(), transport(), Status()).ok()) << last_detail();
  EXPECT_TRUE(job_.had_pool);
  EXPECT_EQ(job_.left, 0);
  joined.keep();
  EXPECT_EQ(job_.left, 1);
  EXPECT_TRUE(joined.end(true).ok());
  EXPECT_EQ(job_.left, 1);
}

TEST_F(JoinedRunTest, ARunThatCannotBeginLeavesItsTransport) {
  job_.greatest_of_others = EROFS;
  {
    JoinedRun joined(&view_);
    EXPECT_EQ(joined.open(order(), transport(), Status()).code(), EROFS);
  }
  EXPECT_EQ(job_.joined, 1);
  EXPECT_EQ(job_.left, 1);
}

}  // namespace
}  // namespace cairn::checkpoint
