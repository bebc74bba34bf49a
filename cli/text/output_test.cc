#include "text/output.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn::cli {
namespace {

TEST(Printable, HiddenCharactersBecomeTheirBytes) {
  EXPECT_EQ(printable("a\x1b[31m\n\t\x7f"), "a\\x1b[31m\\x0a\\x09\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");                    // U+009B
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");           // U+202E
  EXPECT_EQ(printable("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");           // U+2028
  EXPECT_EQ(printable("\xd8\x9c"), "\\xd8\\x9c");                    // U+061C
  EXPECT_EQ(printable("\xef\xbb\xbf"), "\\xef\\xbb\\xbf");           // U+FEFF
  EXPECT_EQ(printable("\xf3\xa0\x81\x81"), "\\xf3\\xa0\\x81\\x81");  // a tag
}

TEST(Printable, BytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\x9b"), "a\\x9b");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // too long for '/'
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");           // too long for U+009B
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                    // cut off
  EXPECT_EQ(printable("\xe2\x82z"), "\\xe2\\x82z");
}

TEST(Printable, OthersStay) {
  const std::string text =
      "Gr\xc3\xbc\xc3\x9f"
      "e \xe2\x82\xac \xf0\x9f\x98\x80 a\\x1b";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(printable("\x1b")), "\\x1b");
}

TEST(Printable, ValuesOfAFormat) {
  const std::string name = "a\nb";
  EXPECT_EQ(format_printable("{}: {:>6}|{}\n", name, "\x1b", 7), "a\\x0ab:   \\x1b|7\n");
}

TEST(Table, CellsArePrintable) {
  Table table({"NAME", "SIZE"}, {1});
  table.row({"a\x1b\n", "1"});
  EXPECT_EQ(table.text(), "NAME       SIZE\na\\x1b\\x0a     1\n");
}

TEST(JsonText, IsAscii) {
  EXPECT_EQ(json_line({{"a", "\xc2\x9b\xe2\x80\xae\x7f"}}), "{\"a\":\"\\u009b\\u202e\\u007f\"}");
  EXPECT_EQ(json_text("a\x9b"), "a\xef\xbf\xbd");
}

}  // namespace
}  // namespace cairn::cli
