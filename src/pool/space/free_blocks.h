// Free blocks: how blocks that no map holds become free. Their records say so first, then their
// bits: a process that finds the bit finds a free record.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

// The records of blocks that become free. The caller sets their bits after this.
void free_records(Pool& pool, Segment& segment, uint64_t index, uint64_t count, uint64_t flags);
// Gives `count` blocks of a taken run (space.h) from `first` on back, unpublished.
void give_back(Pool& pool, BlockRef first, uint32_t count, bool still_zero = false);

}  // namespace cairn::pool
