#include "base/status.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace cairn {
namespace {

TEST(Status, DefaultIsSuccess) {
  Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(static_cast<bool>(status));
  EXPECT_EQ(status.code(), 0);
  EXPECT_EQ(status, Status(0));
}

TEST(Status, FailCarriesErrnoAndDetail) {
  Status status = fail(ENOSPC, "pool %s is full, %d bytes missing", "p", 42);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ENOSPC);
  EXPECT_STREQ(last_detail(), "pool p is full, 42 bytes missing");
  clear_detail();
  EXPECT_STREQ(last_detail(), "");
}

TEST(Status, AnnotatePutsItsTextInFrontAndKeepsTheCause) {
  Status cause = fail(EIO, "media error");
  EXPECT_EQ(annotate(cause, "segment %d", 3), cause);
  EXPECT_STREQ(last_detail(), "segment 3: media error");
}

TEST(Status, AnnotateLeavesTheDetailOfAnEarlierFailure) {
  fail(EINVAL, "before").ignore();
  EXPECT_TRUE(annotate(Status(), "segment %d", 3).ok());
  EXPECT_STREQ(last_detail(), "before");
}

TEST(Status, DetailIsPrintable) {
  static_cast<void>(fail(ENOENT, "%s", "a\x1b[31m\x9b\xc2\x9b\xe2\x80\xae\nb\xc3\xa9"));
  EXPECT_STREQ(last_detail(), "a\\x1b[31m\\x9b\\xc2\\x9b\\xe2\\x80\\xae\\x0ab\xc3\xa9");
  static_cast<void>(annotate(Status(ENOENT), "%s", "\x7f"));
  EXPECT_EQ(std::string(last_detail()).substr(0, 7), "\\x7f: a");
  const std::string all_hidden(detail_capacity - 1, '\x1b');
  static_cast<void>(fail(ENOENT, "%s", all_hidden.c_str()));
  EXPECT_EQ(std::string(last_detail()).size(), (detail_capacity - 1U) / 4 * 4);
}

TEST(Status, LongDetailIsCutNotOverrun) {
  const std::string text(2 * detail_capacity, 'x');
  EXPECT_EQ(fail(EINVAL, "%s", text.c_str()).code(), EINVAL);
  EXPECT_EQ(std::string(last_detail()).size(), detail_capacity - 1U);
  EXPECT_EQ(annotate(Status(EINVAL), "%s", text.c_str()).code(), EINVAL);
  EXPECT_EQ(std::string(last_detail()).size(), detail_capacity - 1U);
  EXPECT_EQ(annotate(Status(EINVAL), "short").code(), EINVAL);
  const std::string joined = last_detail();
  EXPECT_EQ(joined.size(), detail_capacity - 1U);
  EXPECT_EQ(joined.substr(0, 8), "short: x");
}

TEST(Status, DetailBelongsToItsThread) {
  fail(EPERM, "mine").ignore();
  std::thread([] {
    EXPECT_STREQ(last_detail(), "");
    fail(EPERM, "theirs").ignore();
  }).join();
  EXPECT_STREQ(last_detail(), "mine");
}

Result<int> half(int value) {
  if (value % 2 != 0) return fail(EDOM, "%d is odd", value);
  return value / 2;
}

Status quarter(int value, int* out) {
  CAIRN_TRY_ASSIGN(first, half(value));
  CAIRN_TRY_ASSIGN(second, half(first));
  *out = second;
  return {};
}

Status check_all(Status first, Status second, int* reached) {
  CAIRN_TRY(first);
  *reached = 1;
  CAIRN_TRY(second);
  *reached = 2;
  return {};
}

TEST(Result, HoldsAValueOrAFailure) {
  Result<int> good = half(8);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 4);
  EXPECT_TRUE(good.status().ok());
  Result<int> bad = half(7);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.code(), EDOM);
  Result<std::string> text = std::string("cairn");
  EXPECT_EQ(text->size(), 5U);
}

TEST(Result, TryMacrosReturnTheFirstFailure) {
  int out = 0;
  EXPECT_TRUE(quarter(12, &out).ok());
  EXPECT_EQ(out, 3);
  EXPECT_EQ(quarter(6, &out).code(), EDOM);
  EXPECT_STREQ(last_detail(), "3 is odd");
  int reached = 0;
  EXPECT_TRUE(check_all({}, {}, &reached).ok());
  EXPECT_EQ(reached, 2);
  reached = 0;
  EXPECT_EQ(check_all({}, Status(EBUSY), &reached).code(), EBUSY);
  EXPECT_EQ(reached, 1);
  reached = 0;
  EXPECT_EQ(check_all(Status(EAGAIN), {}, &reached).code(), EAGAIN);
  EXPECT_EQ(reached, 0);
}

}  // namespace
}  // namespace cairn
