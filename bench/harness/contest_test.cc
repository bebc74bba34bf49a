#include "harness/contest.h"

#include <gtest/gtest.h>

#include <random>

namespace cairn::bench {
namespace {

// A row whose bar lies inside its interval got more rounds until the interval left it.
TEST(Contest, TheNumberOfRoundsIsFixedThoughTheBarIsInsideTheInterval) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> noise(0, 0.3);
  Settings settings;
  settings.pairs = 12;
  Contest contest;
  const size_t ours = contest.add("ours", [&](size_t) { return noise(random); });
  const size_t same = contest.add("the same", [&](size_t) { return noise(random); });
  const Row row = contest.judge(settings, ours, {same}, 1, Bar::at_least(1));
  ASSERT_LT(row.measured.low, 1);
  ASSERT_GT(row.measured.high, 1);
  EXPECT_EQ(row.pairs, 12U);
  EXPECT_EQ(contest.rounds(), 12U);
  // A second look at the same rounds adds none.
  contest.judge(settings, same, {ours}, 1, Bar::at_least(1));
  EXPECT_EQ(contest.rounds(), 12U);
}

}  // namespace
}  // namespace cairn::bench
