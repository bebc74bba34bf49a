#include "base/lines.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cairn {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> all;
  Lines lines(text);
  for (std::string_view line; lines.next(&line);) all.emplace_back(line);
  return all;
}

TEST(LinesTest, HasNoLineInAnEmptyText) { EXPECT_TRUE(lines_of("").empty()); }

TEST(LinesTest, EndsWithOrWithoutALineEnd) {
  const std::vector<std::string> both = {"a", "bc"};
  EXPECT_EQ(lines_of("a\nbc\n"), both);
  EXPECT_EQ(lines_of("a\nbc"), both);
}

TEST(LinesTest, KeepsEmptyLines) {
  const std::vector<std::string> all = {"", "a", "", ""};
  EXPECT_EQ(lines_of("\na\n\n\n"), all);
}

}  // namespace
}  // namespace cairn
