#include "text/suggest.h"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

TEST(Nearest, DistanceCountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("drain", "drain"), 0U);
  EXPECT_EQ(edit_distance("drian", "drain"), 1U);  // neighbours swapped
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Nearest, FindsTheNearAndRefusesTheFar) {
  const std::vector<std::string> names = {"pool", "status", "drain", "discard", "doctor"};
  EXPECT_EQ(nearest("drian", names), "drain");
  EXPECT_EQ(nearest("statsu", names), "status");
  EXPECT_EQ(nearest("doc", names), "doctor");
  EXPECT_EQ(nearest("xyzzy", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(did_you_mean("pol", names), "; did you mean pool?");
  EXPECT_EQ(did_you_mean("quux", names), "");
}

}  // namespace
}  // namespace cairn::cli
