// Recovery of one dead lane while others go on. The recovery of a whole pool after a power loss is
// in file/recovery/rebuild.h, because it walks files.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

// Looks whether the lane's liveness lock is still held; if not, wins it, finishes what its seats
// had begun, and moves its generation on, which voids its locks. Takes no lock in the pool, so it
// may be called with some held.
void recover_if_dead(Pool& pool, uint32_t lane);

// Calls recover_if_dead() for every lane that is attached.
void recover_the_dead(Pool& pool);
// Asking through a descriptor of the lock file.
void recover_the_dead(Pool& pool, int descriptor);

// The recovery itself; the caller holds the lane's liveness lock.
void recover_lane(Pool& pool, uint32_t lane);

}  // namespace cairn::pool
