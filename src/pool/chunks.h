// Chunks: which 2 MiB of the pool a process takes its blocks from. Each keeps to a chunk of its own
// while it lasts, so that processes contend neither for words nor for a kernel lock on a segment's
// file. A chunk is opened before its first use: from then on its free bits and records mean something.
#pragma once

#include "pool/pool.h"

namespace cairn::pool {

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
uint64_t withheld(const Pool& pool, ChunkRef c, Need need);
bool has_free(const format::Chunk& chunk, uint64_t withheld_bits);
bool is_whole(const format::Chunk& chunk);

// Makes a chunk's tables ready if nobody has; ENOSPC when the medium has no memory for it.
Status open_chunk(Pool& pool, uint32_t segment, uint64_t chunk);

// A chunk with room that no other lane works in, made ours. `whole`: an entirely free one. False: there
// is none; `*why` says so if it was the medium that had no room.
bool find_chunk(Pool& pool, LocalSeat& seat, Need need, bool whole, ChunkRef* found, Status* why);

// All of the segment is backed by memory from now on (it has been populated): nothing needs to be asked
// for when its chunks are opened.
void note_backed(Pool& pool, Segment& segment);

}  // namespace cairn::pool
