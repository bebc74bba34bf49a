#include "base/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

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

Result<uint64_t> bytes_of(const char* text) {
  setenv("CAIRN_POOL_SIZE", text, 1);
  const auto settings = Settings::load();
  unsetenv("CAIRN_POOL_SIZE");
  if (!settings.ok()) return settings.status();
  return settings->bytes("pool.size");
}

TEST(Settings, SizesHaveUnits) {
  EXPECT_EQ(*bytes_of("512M"), uint64_t{512} << 20);
  EXPECT_EQ(*bytes_of("10GiB"), uint64_t{10} << 30);
  EXPECT_EQ(*bytes_of("2gb"), uint64_t{2'000'000'000});
  EXPECT_EQ(*bytes_of("auto"), 0U);
  EXPECT_EQ(bytes_of("50%").code(), ENOSYS) << "only the command knows of what";
  for (const char* const text : {"large", "0", "-1M", "5X"})
    EXPECT_EQ(bytes_of(text).code(), EINVAL) << text;
  EXPECT_NE(std::string(last_detail()).find("pool.size (CAIRN_POOL_SIZE)"), std::string::npos)
      << last_detail();
}

}  // namespace
}  // namespace cairn
