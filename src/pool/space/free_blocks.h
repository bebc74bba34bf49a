// Free blocks: frees blocks that no map holds. Their records are stored first, then their bits: a
// process that finds the bit finds a free record.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

// Stores the records of blocks that become free. The caller sets their bits after this.
void free_records(Pool& pool, Segment& segment, uint64_t index, uint64_t count, uint64_t flags);
// Gives back `count` unpublished blocks of a taken run (space.h), from `first` on.
void give_back(Pool& pool, BlockRef first, uint32_t count, bool still_zero = false);

}  // namespace cairn::pool
