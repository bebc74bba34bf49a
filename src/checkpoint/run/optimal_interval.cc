#include "checkpoint/run/optimal_interval.h"

#include <cmath>

namespace cairn::checkpoint {

uint64_t advised_interval_ns(uint64_t cost_ns, uint64_t mtbf_ns) {
  if (cost_ns == 0 || mtbf_ns == 0) return 0;
  const auto cost = static_cast<double>(cost_ns);
  const auto mtbf = static_cast<double>(mtbf_ns);
  // A job that fails as often as it can save spends all its time saving.
  if (cost >= 2 * mtbf) return mtbf_ns;
  const double share = cost / (2 * mtbf);
  const double between = std::sqrt(2 * cost * mtbf) * (1 + std::sqrt(share) / 3 + share / 9) - cost;
  return static_cast<uint64_t>(between + cost);
}

}  // namespace cairn::checkpoint
