// Tells whether a covered directory was changed since the pool imported it. No process is in the
// cover.
#pragma once

#include "tier/lower/lower.h"

namespace cairn::tier {

// Compares every name that the pool has imported and not changed with lower, and lower's names with
// the pool's. Lazy directories are left out: they are read when they are entered.
Result<bool> is_behind(file::FileSystem& fs, uint64_t top);

}  // namespace cairn::tier
