// Space: blocks are taken from chunks of 512. A process keeps to a chunk of its own while it lasts,
// so that processes contend neither for words nor for a kernel lock on a segment's file; when space
// is short anybody takes any block, so ENOSPC means that there is none.
#pragma once

#include "pool/pool.h"

namespace cairn::pool {

// Blocks kept for unlink and truncate on a full pool: the first 64 of the first chunk.
inline constexpr uint64_t reserve_blocks = 64;

enum class Need : uint8_t {
  ordinary,
  reserve,  // may use the reserve: gives space back soon
};

// Contiguous blocks that were taken and stand in slot `slot` of the seat as in flight.
struct Run {
  BlockRef first;
  uint32_t count = 0;
  bool zero = false;  // all of it is known to hold zeros
  unsigned slot = 0;
};

// Takes 1 to `wanted` (at most 512) contiguous blocks for file blocks from `file_block` on of
// `inode` at `level`, and writes their records. ENOSPC: nothing is left, also after reclaiming.
// The caller publishes them and calls settle(), or gives them back.
Result<Run> take(Pool& pool, LocalSeat& seat, uint64_t inode, uint64_t file_block, unsigned level,
                 uint32_t wanted, Need need = Need::ordinary);
// The run (or what is left of it) is published, or the rest given back: the slot is free again.
void settle(Pool& pool, LocalSeat& seat, const Run& run);
// Gives `count` blocks of a taken run from `first` on back, unpublished.
void give_back(Pool& pool, BlockRef first, uint32_t count, bool still_zero = false);

// Frees `count` contiguous published blocks, whose entries begin at `entries` (null: the caller has
// cleared the only words that named them): clears the entries, then the records. Kill-safe.
void free_published(Pool& pool, LocalSeat& seat, BlockRef first, uint32_t count, Word* entries);
// The same for a 2 MiB leaf: 512 blocks, one entry.
void free_leaf(Pool& pool, LocalSeat& seat, BlockRef first, Word& entry);

// Finishes or undoes what the slots of a dead lane's seat hold.
void recover_in_flight(Pool& pool, format::Seat& seat, uint32_t lane);

struct Usage {
  uint64_t usable = 0;   // blocks
  uint64_t free = 0;     // the reserve included
  uint64_t reserve = 0;  // of these, still there
};
// Counts the free bits. Exact when nobody takes or frees meanwhile.
Usage usage(Pool& pool);

// Makes a chunk's tables ready if nobody has; ENOSPC when the medium has no memory for it.
Status open_chunk(Pool& pool, LocalSeat* seat, uint32_t segment, uint64_t chunk);

// Sets free bits that a killed process lost (record free, bit clear); false if there were none.
bool repair_free_bits(Pool& pool);

}  // namespace cairn::pool
