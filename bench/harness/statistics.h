// The median of noisy measurements, and the interval in which it lies.
#pragma once

#include <vector>

namespace cairn::bench {

struct Interval {
  double median = 0;
  double low = 0;  // 95 % confidence
  double high = 0;
};

double median_of(std::vector<double> values);

// Percentile bootstrap of the median, with a fixed seed: the same values give the same interval.
Interval bootstrap_median(const std::vector<double>& values);

}  // namespace cairn::bench
