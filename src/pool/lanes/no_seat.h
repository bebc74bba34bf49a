// The failure of a call that gets no seat in the pool.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

// Returns EBUSY, with its text.
Status no_seat(const Pool& pool);

}  // namespace cairn::pool
