#include "base/long_detail.h"

#include <gtest/gtest.h>

#include <thread>

namespace cairn {
namespace {

TEST(LongDetail, IsKeptWhole) {
  const std::string text(10 * detail_capacity, 'x');
  EXPECT_EQ(fail_at_length(EINVAL, text + "\n").code(), EINVAL);
  EXPECT_EQ(last_detail(), text + "\\x0a");
  EXPECT_EQ(annotate(Status(EINVAL), "part %d", 3).code(), EINVAL);
  EXPECT_EQ(last_detail(), "part 3: " + text + "\\x0a");
  std::thread([] { EXPECT_STREQ(last_detail(), ""); }).join();
}

TEST(LongDetail, LastsUntilTheNextFailure) {
  const std::string text(10 * detail_capacity, 'x');
  fail_at_length(EIO, text).ignore();
  fail(EIO, "short").ignore();
  EXPECT_STREQ(last_detail(), "short");
  fail_at_length(EIO, "as short").ignore();
  EXPECT_STREQ(last_detail(), "as short");
  fail_at_length(EIO, text).ignore();
  clear_detail();
  EXPECT_STREQ(last_detail(), "");
}

}  // namespace
}  // namespace cairn
