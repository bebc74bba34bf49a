// Restores displaced files of a covered directory (displace.h), when its cover ends without a drain
// that replaced them. They lie in kept directories, each beside a note of where it belongs.
#pragma once

#include <cstdint>

namespace cairn::tier {

// Called when the last claim on a directory is removed. A displaced file stays where it is if
// another file has its name, or if its directory is gone. 0, or the first -errno: a file that
// cannot be restored does not prevent the others. Safe to repeat. `owner`: CoverRecord::owner.
int64_t restore(int directory, uint64_t owner);

}  // namespace cairn::tier
