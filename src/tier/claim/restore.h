// Restore leaves a covered directory as it was before, for a process that has carried nothing to
// it. What was put away there (displace.h) lies in hidden directories, with a file beside each that
// says where it belongs.
#pragma once

#include <cstdint>

namespace cairn::tier {

// When the last claim on a directory is removed: what lies there still was not replaced by a drain
// that could do everything. Where something else has the name, or its directory is gone, it stays.
// 0, or the first -errno: what cannot be brought back does not hold up the rest. Safe to repeat.
// `owner`: CoverRecord::owner.
int64_t restore(int directory, uint64_t owner);

}  // namespace cairn::tier
