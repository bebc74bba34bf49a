#include "checkpoint/record/text.h"

#include <gtest/gtest.h>

namespace cairn::checkpoint {
namespace {

TEST(Text, NamesAreUtf8) {
  for (const char* name : {"t", "u.v", "wind speed", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8c\x8a",
                           "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"})
    EXPECT_TRUE(check_name(name, "variable").ok()) << name;
  for (const char* name :
       {"", ".t", "a/b", "a\n", "\x7f", "\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xe2\x82",
        "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xff"})
    EXPECT_EQ(check_name(name, "variable").code(), EINVAL) << name;
}

TEST(Text, NamesHaveAtMost255Bytes) {
  EXPECT_TRUE(check_name(std::string(255, 'a'), "variable").ok());
  EXPECT_EQ(check_name(std::string(256, 'a'), "variable").code(), EINVAL);
}

TEST(Text, MessagesShowAnyBytes) {
  EXPECT_EQ(shown_text("a\n\xff"), "a\\x0a\\xff");
  EXPECT_EQ(shown_text(std::string(100, 'a')).size(), 83U);
}

TEST(Text, AUuidIsShownInGroups) {
  const uint8_t uuid[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98};
  EXPECT_EQ(shown_uuid(uuid), "01234567-89ab-cdef-fedc-ba9800000000");
}

}  // namespace
}  // namespace cairn::checkpoint
