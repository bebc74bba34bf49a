#include "base/saved_failure.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace cairn {
namespace {

TEST(SavedFailureTest, BringsItsTextBackAfterAnotherFailure) {
  const SavedFailure saved(fail(EIO, "at offset %d", 7));
  fail(ENOENT, "clean-up").ignore();
  EXPECT_EQ(saved.restored().code(), EIO);
  EXPECT_STREQ(last_detail(), "at offset 7");
}

TEST(SavedFailureTest, PrefersTheFirstFailure) {
  const SavedFailure saved(fail(EIO, "first"));
  const Status second = fail(ENOENT, "second");
  EXPECT_EQ(saved.or_of(second).code(), EIO);
  EXPECT_STREQ(last_detail(), "first");
}

TEST(SavedFailureTest, LeavesTheFailureOfACleanUpAfterASuccess) {
  fail(EINVAL, "long ago").ignore();
  const SavedFailure saved{Status()};
  EXPECT_EQ(saved.text(), "");
  const Status second = fail(ENOENT, "second");
  EXPECT_EQ(saved.or_of(second).code(), ENOENT);
  EXPECT_STREQ(last_detail(), "second");
  EXPECT_TRUE(saved.or_of(Status()).ok());
}

TEST(SavedFailureTest, KeepsTheFirstOfSeveralFailures) {
  SavedFailure first;
  first.keep(Status());
  EXPECT_TRUE(first.restored().ok());
  first.keep(fail(EIO, "first"));
  first.keep(fail(ENOENT, "second"));
  first.keep(Status());
  EXPECT_EQ(first.restored().code(), EIO);
  EXPECT_STREQ(last_detail(), "first");
}

}  // namespace
}  // namespace cairn
