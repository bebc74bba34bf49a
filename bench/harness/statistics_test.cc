#include "harness/statistics.h"

#include <gtest/gtest.h>

#include <random>

namespace cairn::bench {
namespace {

TEST(Statistics, MedianOfEvenAndOddCounts) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
}

TEST(Statistics, IntervalHoldsTheMedianAndIgnoresOutliers) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0.95, 0.02);
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(i % 10 == 0 ? 9.0 : noise(random));
  const Interval interval = bootstrap_median(values);
  EXPECT_LE(interval.low, interval.median);
  EXPECT_LE(interval.median, interval.high);
  EXPECT_GT(interval.low, 0.92);
  EXPECT_LT(interval.high, 0.98);
}

TEST(Statistics, TheSameValuesGiveTheSameInterval) {
  const std::vector<double> values{1, 5, 2, 8, 3, 9, 4};
  EXPECT_EQ(bootstrap_median(values).low, bootstrap_median(values).low);
  EXPECT_EQ(bootstrap_median(values).high, bootstrap_median(values).high);
}

}  // namespace
}  // namespace cairn::bench
