// Recovery of one dead lane while other processes continue. The recovery of a whole pool after a
// power loss is in file/recovery/rebuild.h, because it walks files.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

// Checks whether the lane's liveness lock is still held. If not, takes the lock, finishes what the
// lane's seats had begun, and advances its generation, which voids its locks. Takes no lock in the
// pool, so it may be called with some held.
void recover_if_dead(Pool& pool, uint32_t lane);

// Calls recover_if_dead() for every lane that is attached.
void recover_the_dead(Pool& pool);
// Recovers all dead lanes with a descriptor of the lock file.
void recover_the_dead(Pool& pool, int descriptor);

// Recovers the lane; the caller holds its liveness lock.
void recover_lane(Pool& pool, uint32_t lane);

}  // namespace cairn::pool
