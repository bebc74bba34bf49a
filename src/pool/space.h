// Space: blocks are taken from chunks of 512 (chunks.h), each process from its own. When space is
// short anybody takes any block, so ENOSPC means that there is none.
#pragma once

#include "pool/chunks.h"

namespace cairn::pool {

// Contiguous blocks that were taken and stand in slot `slot` of the seat as in flight.
struct Run {
  BlockRef first;
  uint32_t count = 0;
  bool zero = false;  // all of it is known to hold zeros
  unsigned slot = 0;
};

// What a chunk's blocks are taken for: bytes of files from its start on, what is looked up (inodes,
// directories, nodes) from its end on, so that it lies together and a process that looks at many
// files maps few pages.
enum class Use : uint8_t { bytes, lookup };

struct Request {
  uint64_t inode = 0;
  uint64_t file_block = 0;  // the first one
  unsigned level = 0;
  uint32_t wanted = 1;  // blocks, at most 512
  Need need = Need::ordinary;
  Use use = Use::bytes;
};

// Takes 1 to `wanted` contiguous blocks and writes their records. ENOSPC: nothing is left, also
// after reclaiming. The caller publishes them and calls settle(), or gives them back.
Result<Run> take(Pool& pool, LocalSeat& seat, const Request& request);
// The run (or what is left of it) is published, or the rest given back: the slot is free again.
void settle(Pool& pool, LocalSeat& seat, const Run& run);
// Gives `count` blocks of a taken run from `first` on back, unpublished.
void give_back(Pool& pool, BlockRef first, uint32_t count, bool still_zero = false);

// Frees `count` contiguous published blocks, whose entries begin at `entries` (null: the caller has
// cleared the only words that named them): clears the entries, then the records. Kill-safe.
void free_published(Pool& pool, LocalSeat& seat, BlockRef first, uint32_t count, Word* entries);
// The same for a 2 MiB leaf: 512 blocks, one entry.
void free_leaf(Pool& pool, LocalSeat& seat, BlockRef first, Word& entry);

// Gives back a published block of an inode that its dead owner never finished. To be called before
// the word that names the block is cleared: a recovery that dies in between is begun anew, and this
// with it.
void give_back_of_dead(Pool& pool, BlockRef block, uint64_t inode);
// Finishes or undoes what the slots of a dead lane's seat hold.
void recover_in_flight(Pool& pool, format::Seat& seat, uint32_t lane);

struct Usage {
  uint64_t usable = 0;   // blocks
  uint64_t held = 0;     // free, in memory that the pool holds
  uint64_t untouched = 0;  // free, in memory that it has never taken or has given back
  uint64_t free = 0;       // both; the reserve included
  uint64_t reserve = 0;    // of these, still there
};
// Counts the free bits. Exact when nobody takes or frees meanwhile.
Usage usage(Pool& pool);

// A slot of the seat in which nothing stands, and its number; null if there is none.
format::InFlight* free_slot(format::Seat& seat, unsigned* number);
// Sets the bit of a block that is free by its record, but for blocks that seats of lanes other than
// `lane` are taking; returns whether it was lost.
bool repair_free_bit(Pool& pool, BlockRef block, uint32_t lane);
// Sets free bits that a killed process lost (record free, bit clear); false if there were none.
bool repair_free_bits(Pool& pool);

}  // namespace cairn::pool
