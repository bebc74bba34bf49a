// OptimalInterval: computes the optimal checkpoint interval. Pure arithmetic.
#pragma once

#include <cstdint>

namespace cairn::checkpoint {

// Returns the interval between the begins of two checkpoints that loses the least time, by Daly
// (2006), whose first term is Young's (1974). `cost_ns`: of a checkpoint. `mtbf_ns`: mean time
// between failures of the job. Returns 0 if one of them is 0.
uint64_t advised_interval_ns(uint64_t cost_ns, uint64_t mtbf_ns);

}  // namespace cairn::checkpoint
