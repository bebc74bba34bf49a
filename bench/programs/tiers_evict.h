// Tiers evict measures what an eviction costs by itself, for bench_tiers.
#pragma once

#include <string>

#include "harness/report.h"
#include "harness/settings.h"

namespace cairn::bench {

// Files of 1 and 16 MiB that `lower`, a directory, has as well are evicted from a pool in `pools`.
// Time for each 4 KiB, without the look at lower (an open and an fstat), which is measured too.
void add_evictions(const Settings& settings, const std::string& lower, const std::string& pools,
                   Report& report);

}  // namespace cairn::bench
