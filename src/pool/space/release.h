// Release: returns memory that no file has used for a while to the system, so that the pool's
// memory follows its contents.
//
// Freed chunks are taken again youngest and lowest first (free_chunks.h), so a loop of checkpoints
// uses the same ones in each round. A chunk that has been free for idle_ns without a break was not
// needed at the highest point of that time either: live and withheld bytes are below what the pool
// holds by at least that much.
//
// It runs only on tmpfs, and never in a segment that was populated, nor if the pool forbids it
// (State::release_never). Only the pin table may protect the memory of free blocks: a process that
// registers a pool's memory with a device (RDMA, one-sided windows) sets release_never first.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

inline constexpr uint64_t idle_ns = 60'000'000'000;

// Releases idle chunks if it is time to look. Bounded work: a call spends a few milliseconds at
// most, and little of a pool's time altogether. The seat has a free in-flight slot.
void release_idle(Pool& pool, LocalSeat& seat);
// Releases chunks that have been free for `free_for_ns`, and spends about `time_ns` on it. Returns
// true if there are more of them.
bool release_chunks(Pool& pool, LocalSeat& seat, uint64_t free_for_ns, uint64_t time_ns);

// Prepares to take blocks of the chunk: if its memory has gone back to the system since the last
// time, this process's mappings of it are gone (persist/region/first_touch.h).
void see_releases(Segment& segment, uint64_t chunk);

// Finishes or undoes the release that a dead lane's in-flight slot records.
void recover_release(Pool& pool, BlockRef first, uint32_t lane);

}  // namespace cairn::pool
