// The free bits of a chunk: which of its 512 blocks may be taken. A bit is a hint where to look,
// and taking a block means clearing it, by one atomic operation (see pool.h).
#pragma once

#include "pool/space/chunk.h"

namespace cairn::pool {

struct BitRun {
  unsigned first = 0;
  unsigned count = 0;
};

// The first run of `wanted` free bits behind `hint`, else anywhere, else the longest. Bits of the
// first word that are in `reserved` are left alone.
BitRun find_run(const format::Chunk& chunk, uint64_t reserved, unsigned wanted, unsigned hint);
// The last free bit.
BitRun find_last(const format::Chunk& chunk, uint64_t reserved);
// How many blocks of the chunk are free.
uint64_t count_free(const format::Chunk& chunk);
[[nodiscard]] bool is_free_bit(const Pool& pool, BlockRef block);

// Clears the bits of a run; returns how many from its start were ours to take. The others that this
// call cleared are given back.
unsigned clear_bits(Pool& pool, Segment& segment, format::Chunk& chunk, BitRun run);
void set_bits(Pool& pool, Segment& segment, uint64_t index, uint64_t count);

}  // namespace cairn::pool
