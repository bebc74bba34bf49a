// Space: takes blocks from chunks of 512 (find_chunk.h), each process from its own. If space is
// short, any process takes any block, so ENOSPC means that there is none.
#pragma once

#include "pool/space/chunk.h"
#include "pool/space/free_blocks.h"

namespace cairn::pool {

// Contiguous blocks that were taken and are recorded in slot `slot` of the seat as in flight.
struct BlockRun {
  BlockRef first;
  uint32_t count = 0;
  bool zero = false;  // all of it is known to hold zeros
  unsigned slot = 0;
};

// The use of a chunk's blocks. Bytes of files are taken from its start on, blocks for look-ups
// (inodes, directories, nodes) from its end on, so that these lie together and a process that looks
// at many files maps few pages.
enum class Use : uint8_t { bytes, lookup };

struct BlockRequest {
  uint64_t inode = 0;
  uint64_t file_block = 0;  // the first one
  unsigned level = 0;
  uint32_t wanted = 1;  // blocks, at most 512
  Need need = Need::ordinary;
  Use use = Use::bytes;
};

// Takes 1 to `wanted` contiguous blocks and writes their records. ENOSPC: no block is left, also
// after reclaiming. The caller publishes them, or gives them back, and calls clear_in_flight().
Result<BlockRun> take(Pool& pool, LocalSeat& seat, const BlockRequest& request);
// Frees the in-flight slot of a run. Each of its blocks must be published or given back.
void clear_in_flight(Pool& pool, LocalSeat& seat, const BlockRun& run);
// Frees `count` contiguous published blocks, whose entries begin at `entries` (null: the caller has
// cleared the only words that named them): clears the entries, then the records. Kill-safe.
void free_published(Pool& pool, LocalSeat& seat, BlockRef first, uint32_t count, Word* entries);
// Frees a published 2 MiB leaf: 512 blocks, one entry. Kill-safe.
void free_leaf(Pool& pool, LocalSeat& seat, BlockRef first, Word& entry);

struct Usage {
  uint64_t usable = 0;     // blocks
  uint64_t held = 0;       // free, in memory that the pool holds
  uint64_t untouched = 0;  // free, in memory that it has never taken or has given back
  uint64_t free = 0;       // both; the reserve included
  uint64_t reserve = 0;    // of these, still there
};
// Counts the free bits. Exact when no process takes or frees meanwhile.
Usage usage(Pool& pool);

}  // namespace cairn::pool
