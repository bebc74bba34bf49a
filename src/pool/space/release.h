// Release: memory that no file has used for a while goes back to the system, so that what a pool
// holds follows what lives in it.
//
// Freed chunks are taken again youngest and lowest first (free_chunks.h), so a loop of checkpoints
// uses the same ones in each round. A chunk that has been free for idle_ns without a break was not
// needed at the highest point of that time either: live and withheld bytes are below what the pool
// holds by at least that much.
//
// Only on tmpfs, and never in a segment that was populated, nor where the pool says so
// (State::release_never). Nothing outside the pin table may rely on the memory of free blocks: a
// process that registers a pool's memory with a device (RDMA, one-sided windows) sets release_never
// first.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

inline constexpr uint64_t idle_ns = 60'000'000'000;

// Gives back what is idle if it is time to look. Bounded work: a call spends a few milliseconds at
// most, and little of a pool's time altogether. The seat has an in-flight slot that is free.
void release_idle(Pool& pool, LocalSeat& seat);
// Gives back chunks that have been free for so long, and spends about so much time on it; true if
// there are more of them.
bool release_chunks(Pool& pool, LocalSeat& seat, uint64_t free_for_ns, uint64_t time_ns);

// This process is about to take blocks of the chunk: if its memory has gone back to the system
// since the last time, nothing of it is mapped any more (persist/region/first_touch.h).
void see_releases(Segment& segment, uint64_t chunk);

// Finishes or undoes what a dead lane's in-flight slot says that it was releasing.
void recover_release(Pool& pool, BlockRef first, uint32_t lane);

}  // namespace cairn::pool
