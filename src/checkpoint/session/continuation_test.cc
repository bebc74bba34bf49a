#include "checkpoint/session/continuation.h"

#include <gtest/gtest.h>

#include "support/run_on_pool.h"

namespace cairn::checkpoint {
namespace {

class ContinuationTest : public RunOnPool {
 protected:
  void TearDown() override {
    continuation_.reset();
    end();
  }
  // Begins a run, whose ranks agree on what they define.
  void begin_run(bool is_fresh = false) {
    begin();
    Continuation::RestartOptions options;
    options.is_fresh = is_fresh;
    continuation_.emplace(run(), &view, &*writer, &contents.definitions(), options,
                          SkippedVersions());
    ASSERT_TRUE(contents.agree(run(), 0, writer->sequence()).ok()) << last_detail();
  }
  void begin_next_run(bool is_fresh = false) {
    TearDown();
    array.values.assign(array.values.size(), -1);
    begin_run(is_fresh);
  }
  std::optional<Continuation> continuation_;
};

TEST_F(ContinuationTest, AnEmptySetMayBeWrittenImmediately) {
  begin_run();
  EXPECT_TRUE(continuation_->check_may_write().ok());
  const auto report = continuation_->test({});
  ASSERT_TRUE(report.ok()) << last_detail();
  EXPECT_FALSE(report->has_value()) << "there is nothing to restart from";
  EXPECT_EQ(continuation_->read({}, {}).code(), ENOENT);
}

TEST_F(ContinuationTest, VersionsHaveToBeReadBeforeTheRunWrites) {
  begin_run();
  const uint64_t first = write(1);
  begin_next_run();
  EXPECT_EQ(continuation_->check_may_write().code(), EEXIST);
  const auto report = continuation_->test({});
  ASSERT_TRUE(report.ok() && report->has_value()) << last_detail();
  EXPECT_EQ((*report)->known.version.sequence, first);
  EXPECT_EQ(continuation_->check_may_write().code(), EEXIST) << "a test reads nothing";
  ASSERT_TRUE(continuation_->read({}, {}).ok()) << last_detail();
  EXPECT_TRUE(array.has(1));
  EXPECT_TRUE(continuation_->check_may_write().ok());
  const uint64_t second = write(2);
  EXPECT_EQ(view.catalogue()->find(second)->version.parent, first);
}

TEST_F(ContinuationTest, TheLatestIsTheVersionThatWasReadUntilTheNextIsWritten) {
  begin_run();
  write(1);
  write(2);
  begin_next_run();
  ASSERT_TRUE(continuation_->read(1, {}).ok()) << last_detail();
  EXPECT_TRUE(array.has(1));
  const auto latest = continuation_->find({});
  ASSERT_TRUE(latest.ok()) << last_detail();
  EXPECT_EQ(latest->version().number, 1);
  const auto left = continuation_->find(2);
  ASSERT_TRUE(left.ok()) << "by its number the version can still be found";
}

TEST_F(ContinuationTest, AFreshRunLeavesAllVersionsBehind) {
  begin_run();
  const uint64_t first = write(1);
  begin_next_run(true);
  EXPECT_TRUE(continuation_->check_may_write().ok());
  const auto report = continuation_->test({});
  ASSERT_TRUE(report.ok()) << last_detail();
  EXPECT_FALSE(report->has_value());
  const uint64_t second = write(2);
  EXPECT_FALSE(is_in_line(view.catalogue()->find(second)->version, first));
}

}  // namespace
}  // namespace cairn::checkpoint
