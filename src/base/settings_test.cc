#include "base/settings.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

using Found = std::map<std::string, std::string>;

Result<Found> parse(const std::string& text) {
  Found found;
  const Status status =
      parse_settings(text, [&](const std::string& key, const std::string& value, unsigned) {
        found[key] = value;
        return Status();
      });
  if (!status.ok()) return status;
  return found;
}

Found read(const std::string& text) {
  auto found = parse(text);
  EXPECT_TRUE(found.ok()) << text << last_detail();
  return *found;
}

TEST(Settings, KeysAndNesting) {
  EXPECT_EQ(read("pool.dir: /mnt/pmem\n"), (Found{{"pool.dir", "/mnt/pmem"}}));
  EXPECT_EQ(read("# pools\n\npool:   # here\n  dir: /mnt/a b   # of all\r\n  size: 50%\n"
                 "durability: write\n"),
            (Found{{"pool.dir", "/mnt/a b"}, {"pool.size", "50%"}, {"durability", "write"}}));
  EXPECT_EQ(read("---\na:\n    b:\n      c: 1\n    d: 2\ne: 3"),
            (Found{{"a.b.c", "1"}, {"a.d", "2"}, {"e", "3"}}));
  EXPECT_EQ(read(""), Found());
  EXPECT_EQ(read("pool:\n"), Found());
}

TEST(Settings, QuotedValues) {
  EXPECT_EQ(read("a: \"x # y\" # z\nb: 'it''s'\nc: \"\\\"\\\\\"\nd: x#y\n"),
            (Found{{"a", "x # y"}, {"b", "it's"}, {"c", "\"\\"}, {"d", "x#y"}}));
  EXPECT_EQ(read("a: ''\n"), (Found{{"a", ""}}));
}

TEST(Settings, WhatIsNotReadIsNotOverlooked) {
  for (const char* text :
       {"pool: {dir: /x}\n", "pool: &a\n  dir: x\n", "- pool\n", "pool:\n\tdir: x\n", "a: |\n  x\n",
        "a: \"x\n  y\"\n", "a: \"\\t\"\n", "a: 'x' y\n", "a\n", "  a: 1\n", "a: b: c\n", "? a\n",
        "a: 1\n  continued\n", "a: *b\n"}) {
    EXPECT_EQ(parse(text).code(), ENOSYS) << text;
    EXPECT_NE(std::string(last_detail()).find("line "), std::string::npos) << last_detail();
  }
}

}  // namespace
}  // namespace cairn
