// Free chunks: locates freed space, so that it is taken again before any untouched memory.
// Untouched memory costs five to ten times a copy, and a pool that walks through all of its memory
// takes it from the application.
//
// Three bits for each chunk (format::ChunkHints) say that it is whole, has room, or was released;
// the process also remembers the chunks in which it freed blocks last (recent_chunks.h). All of
// these are hints: the free bits and the chunk's state decide.
//
// No hint is lost while its processes live: a process that frees sets the free bits and then reads
// the hint; one that clears a hint reads the free bits afterwards. Hints that a killed process
// loses are found by looking at some chunks in turn (find_chunk).
#pragma once

#include "pool/space/chunk.h"

namespace cairn::pool {

// Records that this process has freed blocks of the chunk: their free bits are set.
void note_freed(Pool& pool, Segment& segment, uint64_t chunk);
// Records that this process no longer works in the chunk, which has room, or not.
void note_left(Pool& pool, ChunkRef c);
// Records that the chunk's memory went back to the system: it is untouched again.
void note_released(Pool& pool, ChunkRef c);

// Acquire a chunk in which no other lane works: one that is free entirely, or one that has some
// room (which may also be free entirely). Youngest first, else the lowest. They return false if
// none is known.
bool find_whole(Pool& pool, LocalSeat& seat, ChunkRef* found);
bool find_room(Pool& pool, LocalSeat& seat, Need need, ChunkRef* found);

// Return the lowest chunk of the segment, from `from` on, that is noted as released or as whole;
// no_chunk if there is none.
inline constexpr uint64_t no_chunk = UINT64_MAX;
uint64_t next_released(Segment& segment, uint64_t from);
uint64_t next_whole(Segment& segment, uint64_t from);
// Clears the note that the chunk was released: it is in use again, or was not released.
void forget_released(Segment& segment, uint64_t chunk);

}  // namespace cairn::pool
