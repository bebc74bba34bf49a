// Space recovery: finishes or undoes what the slots of a dead lane's seats hold.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

// Gives back a published block of an inode that its dead owner never finished. Call it before the
// word that names the block is cleared: a recovery that dies in between starts again, and calls it
// again.
void give_back_of_dead(Pool& pool, BlockRef block, uint64_t inode);
// Finishes or undoes what the slots of a dead lane's seat hold.
void recover_in_flight(Pool& pool, format::Seat& seat, uint32_t lane);

}  // namespace cairn::pool
