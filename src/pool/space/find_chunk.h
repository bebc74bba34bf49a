// Finding a chunk: a process takes its blocks from one 2 MiB chunk of its own while that lasts, so
// that processes contend neither for words nor for a kernel lock on a segment's file.
#pragma once

#include "pool/space/chunk.h"

namespace cairn::pool {

// The purpose of a chunk.
enum class Want : uint8_t {
  pieces,  // a few blocks: any room will do
  run,     // many: a run as long as can be had
  chunk,   // all blocks of a chunk
};

// Makes a chunk's tables ready if no process has; ENOSPC if the medium has no memory for it.
Status open_chunk(Pool& pool, uint32_t segment, uint64_t chunk);

// Acquires a chunk with room in which no other lane works: freed chunks first, then untouched ones.
// For long runs, pieces of chunks count as freed only if they are a large part of what the pool
// holds; otherwise large files would be made of pieces while whole chunks are available.
// Want::chunk: an entirely free one. Returns false if there is none; `*why` is set if the medium
// had no room.
bool find_chunk(Pool& pool, LocalSeat& seat, Need need, Want want, ChunkRef* found, Status* why);
// Leaves a chunk that this process works in.
void leave_chunk(Pool& pool, ChunkRef c, uint64_t owner);

}  // namespace cairn::pool
