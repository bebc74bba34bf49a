// Free chunks: where freed space lies, so that it is taken again before any untouched memory.
// Untouched memory costs five to ten times a copy, and a pool that walks through all of its memory
// takes it from the application.
//
// Three bits for each chunk (format::ChunkHints) say that it is whole, has room, or was released;
// the process also remembers the chunks in which it freed something last (recent_chunks.h). All of
// these are hints: the free bits and the chunk's state decide.
//
// No hint is lost while its processes live: a process that frees sets the free bits and then looks
// at the hint; one that clears a hint looks at the free bits afterwards. What a killed process
// loses is found by looking at some chunks in turn (find_chunk).
#pragma once

#include "pool/space/chunk.h"

namespace cairn::pool {

// Blocks of the chunk have been freed in this process: their free bits are set.
void note_freed(Pool& pool, Segment& segment, uint64_t chunk);
// This process works in the chunk no longer; it has room, or not.
void note_left(Pool& pool, ChunkRef c);
// The chunk's memory went back to the system: it is untouched again.
void note_released(Pool& pool, ChunkRef c);

// A chunk that is free entirely, or one that has some room (only then also one that is free
// entirely), in which no other lane works, made ours. Youngest first, else the lowest. False: none
// is known.
bool find_whole(Pool& pool, LocalSeat& seat, ChunkRef* found);
bool find_room(Pool& pool, LocalSeat& seat, Need need, ChunkRef* found);

// The lowest chunk of the segment, from `from` on, that is noted as released or as whole; no_chunk
// if there is none.
inline constexpr uint64_t no_chunk = UINT64_MAX;
uint64_t next_released(Segment& segment, uint64_t from);
uint64_t next_whole(Segment& segment, uint64_t from);
// The chunk is in use again, or was not released.
void forget_released(Segment& segment, uint64_t chunk);

}  // namespace cairn::pool
