// Space recovery: what the slots of a dead lane's seats hold is finished or undone.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

// Gives back a published block of an inode that its dead owner never finished. To be called before
// the word that names the block is cleared: a recovery that dies in between is begun anew, and this
// with it.
void give_back_of_dead(Pool& pool, BlockRef block, uint64_t inode);
// Finishes or undoes what the slots of a dead lane's seat hold.
void recover_in_flight(Pool& pool, format::Seat& seat, uint32_t lane);

}  // namespace cairn::pool
