#include "checkpoint/layout/contents.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/sample_contents.h"

namespace cairn::checkpoint {
namespace {

VariableDefinition& named(SampleContents& sample, const char* name) {
  return *std::find_if(sample.definition.variables.begin(), sample.definition.variables.end(),
                       [&](const VariableDefinition& variable) { return variable.name == name; });
}

template <typename Change>
int result_of(Change change) {
  SampleContents sample = sample_contents();
  change(sample);
  return sample.contents().code();
}

TEST(Contents, TheSampleFitsTogether) {
  SampleContents sample = sample_contents();
  const auto contents = sample.contents();
  ASSERT_TRUE(contents.ok()) << last_detail();
  EXPECT_TRUE(contents->has_counted());
}

TEST(Contents, RelationsAreOfKindsThatFit) {
  EXPECT_EQ(result_of([](auto& s) { named(s, "soil").over = "u"; }), EINVAL) << "not an integer";
  EXPECT_EQ(result_of([](auto& s) { named(s, "soil").over = ""; }), EINVAL) << "over nothing";
  EXPECT_EQ(result_of([](auto& s) { named(s, "soil").over = "cell"; }), EINVAL) << "counted";
  EXPECT_EQ(result_of([](auto& s) { named(s, "u").over = "count"; }), EINVAL) << "a grid";
  EXPECT_EQ(result_of([](auto& s) { named(s, "mass").over = ""; }), 0) << "without cells";
  EXPECT_EQ(result_of([](auto& s) { named(s, "mass").key = ""; }), EINVAL) << "its own key";
  EXPECT_EQ(result_of([](auto& s) { named(s, "mass").key = "count"; }), EINVAL);
  EXPECT_EQ(result_of([](auto& s) { named(s, "u").key = "cell"; }), EINVAL);
  EXPECT_EQ(result_of([](auto& s) { named(s, "cell").type = Type::float64; }), EINVAL);
  EXPECT_EQ(result_of([](auto& s) { named(s, "cell").over = "mass"; }), EINVAL) << "a cycle";
}

TEST(Contents, DimensionsAndRanksAgree) {
  EXPECT_EQ(result_of([](auto& s) { named(s, "u").dimensions = 1; }), EINVAL);
  EXPECT_EQ(result_of([](auto& s) { named(s, "soil").dimensions = 0; }), EINVAL);
  EXPECT_EQ(result_of([](auto& s) { s.definition.ranks = 5; }), EINVAL);
  EXPECT_EQ(result_of([](auto& s) { s.decompositions.pop_back(); }), EINVAL) << "one is missing";
}

}  // namespace
}  // namespace cairn::checkpoint
