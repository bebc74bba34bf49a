// Finding a chunk: a process takes its blocks from one 2 MiB chunk of its own while that lasts, so
// that processes contend neither for words nor for a kernel lock on a segment's file.
#pragma once

#include "pool/space/chunk.h"

namespace cairn::pool {

// What a chunk is wanted for.
enum class Want : uint8_t {
  pieces,  // a few blocks: any room will do
  run,     // many: a run as long as can be had
  chunk,   // all blocks of a chunk
};

// Makes a chunk's tables ready if no process has; ENOSPC when the medium has no memory for it.
Status open_chunk(Pool& pool, uint32_t segment, uint64_t chunk);

// A chunk with room that no other lane works in, made ours: what was freed first, then what is
// untouched. For long runs, pieces of chunks count as freed only where they are a large part of
// what the pool holds: else large files would be made of them while whole chunks can be had.
// Want::chunk: an entirely free one. False: there is none; `*why` says so if it was the medium that
// had no room.
bool find_chunk(Pool& pool, LocalSeat& seat, Need need, Want want, ChunkRef* found, Status* why);
// The process no longer works in this chunk.
void leave_chunk(Pool& pool, ChunkRef c, uint64_t owner);

}  // namespace cairn::pool
