// Free bits: tell which of a chunk's 512 blocks may be taken. A bit is a hint where to look, and
// taking a block means clearing it, by one atomic operation (see pool.h).
#pragma once

#include "pool/space/chunk.h"

namespace cairn::pool {

struct BitRun {
  unsigned first = 0;
  unsigned count = 0;
};

// Returns the first run of `wanted` free bits behind `hint`, else anywhere, else the longest run.
// Bits of the first word that are in `reserved` are skipped.
BitRun find_run(const format::Chunk& chunk, uint64_t reserved, unsigned wanted, unsigned hint);
// Returns the last free bit.
BitRun find_last(const format::Chunk& chunk, uint64_t reserved);
// Returns how many blocks of the chunk are free.
uint64_t count_free(const format::Chunk& chunk);
[[nodiscard]] bool is_free_bit(const Pool& pool, BlockRef block);

// Clears the bits of a run. Returns how many from its start this call has taken; other bits that it
// cleared are set again.
unsigned clear_bits(Pool& pool, Segment& segment, format::Chunk& chunk, BitRun run);
void set_bits(Pool& pool, Segment& segment, uint64_t index, uint64_t count);

}  // namespace cairn::pool
