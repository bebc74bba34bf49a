// Tells whether the directory below a cover that nobody is in was changed since.
#pragma once

#include "tier/lower/lower.h"

namespace cairn::tier {

// Compares every name that the pool has taken from lower, and not changed, with what lies there
// now, and lower's names with the pool's. A directory that was never entered is read when it is.
Result<bool> is_behind(file::FileSystem& fs, uint64_t top);

}  // namespace cairn::tier
