// A chunk: 2 MiB of a segment, with the free bits and the records of its 512 blocks. A chunk is
// opened before its first use (find_chunk.h): its free bits and records are valid from then on.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

constexpr unsigned bits_per_word = 64;  // of free bits and of hints

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
// Returns the bits of word 0 that ordinary needs may not take.
uint64_t reserved_bits(const Pool& pool, ChunkRef c, Need need);
bool has_free(const format::Chunk& chunk, uint64_t reserved);
bool is_whole(const format::Chunk& chunk);

// Returns the end of the chunks of the segment that were ever opened; a hint.
uint64_t opened_end(Segment& segment);
// Raises opened_end() above `chunk`, which is open.
void note_opened(Pool& pool, Segment& segment, uint64_t chunk);
// Returns true if a process has populated the whole segment, so that memory backs all of it.
bool is_backed(Segment& segment);
// Records that the caller has populated the whole segment: opening its chunks needs no reservation.
void note_backed(Pool& pool, Segment& segment);

}  // namespace cairn::pool
