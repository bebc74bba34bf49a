// Opens what its owner cannot read (mode 000): a program may give it another mode, owner or time
// all the same.
#pragma once

#include <cstdint>

namespace cairn::tier {

// Opens what an O_PATH descriptor (or the error instead of one) means, which it takes; its owner is
// given the right to read it, until its mode is set anew. A descriptor, or -errno.
int64_t open_unreadable(int64_t path_only, int flags);

}  // namespace cairn::tier
