// Chunks: which 2 MiB of the pool a process takes its blocks from. Each keeps to a chunk of its own
// while it lasts, so that processes contend neither for words nor for a kernel lock on a segment's
// file. A chunk is opened before its first use: from then on its free bits and records mean
// something.
#pragma once

#include "pool/pool.h"

namespace cairn::pool {

// What a chunk is wanted for.
enum class Want : uint8_t {
  pieces,  // a few blocks: any room will do
  run,     // many: a run as long as can be had
  chunk,   // all blocks of a chunk
};

// Blocks kept for unlink and truncate on a full pool: the first 64 of the first chunk.
inline constexpr uint64_t reserve_blocks = 64;

enum class Need : uint8_t {
  ordinary,
  reserve,  // may use the reserve: gives space back soon
};

struct ChunkRef {
  uint32_t segment = 0;
  uint64_t chunk = 0;
};
constexpr uint64_t pack(ChunkRef c) { return static_cast<uint64_t>(c.segment) << 32 | c.chunk; }
constexpr ChunkRef unpack(uint64_t value) {
  return {static_cast<uint32_t>(value >> 32), value & 0xffffffff};
}

inline uint64_t first_chunk(const Segment& segment) {
  return segment.data_start / format::chunk_blocks;
}
inline bool is_open(const format::Chunk& chunk) {
  return (chunk.state.load() & 0xff) == format::chunk_open;
}
// Bits of word 0 that ordinary needs may not take.
uint64_t reserved_bits(const Pool& pool, ChunkRef c, Need need);
bool has_free(const format::Chunk& chunk, uint64_t reserved);
bool is_whole(const format::Chunk& chunk);

// Makes a chunk's tables ready if nobody has; ENOSPC when the medium has no memory for it.
Status open_chunk(Pool& pool, uint32_t segment, uint64_t chunk);

// A chunk with room that no other lane works in, made ours: what was freed first, what nobody has
// touched then. For long runs, pieces of chunks count as freed only where they are a large part of
// what the pool holds: else large files would be made of them while whole chunks can be had.
// Want::chunk: an entirely free one. False: there is none; `*why` says so if it was the medium that
// had no room.
bool find_chunk(Pool& pool, LocalSeat& seat, Need need, Want want, ChunkRef* found, Status* why);
// The lane works in this chunk no longer.
void leave_chunk(Pool& pool, ChunkRef c, uint64_t owner);

// Behind the last chunk of the segment that was ever opened; a hint.
uint64_t opened_end(Segment& segment);
// Is all of the segment backed by memory, by whoever populated it?
bool is_backed(Segment& segment);

// All of the segment is backed by memory from now on (it has been populated): nothing needs to be
// asked for when its chunks are opened.
void note_backed(Pool& pool, Segment& segment);

}  // namespace cairn::pool
