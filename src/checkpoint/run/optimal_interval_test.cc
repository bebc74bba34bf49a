#include "checkpoint/run/optimal_interval.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::checkpoint {
namespace {

constexpr uint64_t second = 1'000'000'000;

// Returns the share of time that is lost, by Daly's complete model: restarts take no time.
double loss(double interval, double cost, double mtbf) {
  return mtbf * (std::exp(interval / mtbf) - 1) / (interval - cost);
}

TEST(Advice, IsTheCheapestInterval) {
  for (const double cost : {0.5, 10.0, 60.0, 600.0}) {
    for (const double mtbf : {3600.0, 86400.0, 7 * 86400.0}) {
      const auto ns = [](double seconds) { return static_cast<uint64_t>(seconds * 1e9); };
      const double advised = static_cast<double>(advised_interval_ns(ns(cost), ns(mtbf))) /
                             static_cast<double>(second);
      const double best = loss(advised, cost, mtbf);
      // Intervals far from it are not better.
      EXPECT_LE(best, loss(advised * 1.2, cost, mtbf)) << cost << " " << mtbf;
      EXPECT_LE(best, loss(std::max(advised * 0.8, cost * 1.01), cost, mtbf))
          << cost << " " << mtbf;
      // Young's interval is near.
      EXPECT_NEAR(advised / std::sqrt(2 * cost * mtbf), 1, 0.25);
    }
  }
}

TEST(Advice, KnowsItsLimits) {
  EXPECT_EQ(advised_interval_ns(0, second), 0U);
  EXPECT_EQ(advised_interval_ns(second, 0), 0U);
  EXPECT_EQ(advised_interval_ns(10 * second, 4 * second), 4 * second);
}

}  // namespace
}  // namespace cairn::checkpoint
