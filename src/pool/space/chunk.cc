#include "pool/space/chunk.h"

#include <algorithm>

#include "media/media.h"

namespace cairn::pool {
namespace {

using format::Chunk;

// Returns the hints of the segment as a whole, in the first slot of the chunk table. Chunks are
// opened in order; the count is not made durable, and a process may die before it has raised it.
format::ChunkHints& hints_of(Segment& segment) {
  return *reinterpret_cast<format::ChunkHints*>(segment.chunk);
}
Word& opened(Segment& segment) { return hints_of(segment).opened; }
Word& backed(Segment& segment) { return hints_of(segment).backed; }

}  // namespace

uint64_t reserved_bits(const Pool& pool, ChunkRef c, Need need) {
  const bool has_reserve = c.segment == 0 && c.chunk == first_chunk(*pool.segment[0]);
  return has_reserve && need == Need::ordinary ? ~0ULL : 0;
}

bool has_free(const Chunk& chunk, uint64_t reserved) {
  if ((chunk.free[0].load_relaxed() & ~reserved) != 0) return true;
  return std::any_of(std::begin(chunk.free) + 1, std::end(chunk.free),
                     [](const Word& word) { return word.load_relaxed() != 0; });
}

bool is_whole(const Chunk& chunk) {
  return std::all_of(std::begin(chunk.free), std::end(chunk.free),
                     [](const Word& word) { return word.load_relaxed() == ~0ULL; });
}

uint64_t opened_end(Segment& segment) {
  return std::clamp(opened(segment).load(), first_chunk(segment), segment.chunks);
}

bool is_backed(Segment& segment) { return backed(segment).load() != 0; }

void note_opened(Pool& pool, Segment& segment, uint64_t chunk) {
  uint64_t end = opened(segment).load();
  while (end < chunk + 1 && !pool.compare_exchange(opened(segment), end, chunk + 1)) {
  }
}

void note_backed(Pool& pool, Segment& segment) {
  // Only memory is recorded: a file's extents are durable at its next fsync, and this word could be
  // so before.
  if (pool.identity->medium.load() == static_cast<uint64_t>(media::MediumKind::tmpfs))
    pool.store_flush(backed(segment), 1);
}

}  // namespace cairn::pool
