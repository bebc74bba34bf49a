#include "harness/statistics.h"

#include <algorithm>
#include <cstddef>
#include <random>

namespace cairn::bench {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t half = values.size() / 2;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Interval bootstrap_median(const std::vector<double>& values) {
  constexpr size_t resamples = 2000;
  if (values.empty()) return {};
  std::mt19937_64 random(20240229);
  std::uniform_int_distribution<size_t> pick(0, values.size() - 1);
  std::vector<double> medians(resamples);
  std::vector<double> sample(values.size());
  for (double& m : medians) {
    for (double& s : sample) s = values[pick(random)];
    m = median_of(sample);
  }
  std::sort(medians.begin(), medians.end());
  return {median_of(values), medians[resamples * 25 / 1000], medians[resamples * 975 / 1000]};
}

}  // namespace cairn::bench
