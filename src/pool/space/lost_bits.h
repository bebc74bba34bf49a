// Lost bits: a process that was killed between a record and its free bit leaves a block that is
// free by its record while its bit is clear. These functions set such bits.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

// Sets the block's bit if its record says that it is free, unless a seat of another lane than
// `lane` is taking the block. Returns true if the bit was lost.
bool repair_free_bit(Pool& pool, BlockRef block, uint32_t lane);
// Sets all lost bits of the pool. Returns false if there were none.
bool repair_free_bits(Pool& pool);

}  // namespace cairn::pool
