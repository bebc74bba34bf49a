#include "pool/chunks.h"

#include <algorithm>

#include "media/media.h"
#include "pool/lock.h"

namespace cairn::pool {
namespace {

using format::Chunk;
using format::chunk_blocks;

// The first chunk slot of a segment lies before the data and is no chunk; it keeps what concerns the
// segment as a whole. Chunks are opened in order; how far, is a hint: it is not made durable, and a process
// may die before it has raised it.
Word& opened(Segment& segment) { return segment.chunk[0].reserved[0]; }
Word& backed(Segment& segment) { return segment.chunk[0].reserved[1]; }

uint64_t opened_end(Segment& segment) {
  return std::clamp(opened(segment).load(), first_chunk(segment), segment.chunks);
}

// So many chunks in use are looked at for each one that is opened: space that came back is found again
// in time, and finding a chunk costs the same however large the pool is.
constexpr uint64_t looks_per_chunk = 8;
constexpr uint64_t look_everywhere = UINT64_MAX;

bool acquire_with_room(Pool& pool, LocalSeat& seat, ChunkRef c, Need need, bool whole) {
  Chunk& chunk = pool.segment[c.segment]->chunk[c.chunk];
  if (!is_open(chunk)) return false;
  if (whole ? !is_whole(chunk) : !has_free(chunk, withheld(pool, c, need))) return false;
  return try_acquire(pool, seat, chunk.owner);
}

// Looks at up to `looks` open chunks, going on where the last search of this process ended.
bool find_open(Pool& pool, LocalSeat& seat, uint32_t s, Need need, bool whole, uint64_t looks,
               ChunkRef* found) {
  Segment& segment = *pool.segment[s];
  const uint64_t first = first_chunk(segment);
  const uint64_t end = looks == look_everywhere ? segment.chunks : opened_end(segment);
  const ChunkRef last = unpack(pool.search_from.load(std::memory_order_relaxed));
  uint64_t c = last.segment == s ? std::max(last.chunk, first) : first;
  looks = std::min(looks, end - first);
  for (; looks > 0; --looks, ++c) {
    if (c >= end) c = first;
    if (!acquire_with_room(pool, seat, {s, c}, need, whole)) continue;
    pool.search_from.store(pack({s, c}), std::memory_order_relaxed);
    *found = {s, c};
    return true;
  }
  pool.search_from.store(pack({s, c}), std::memory_order_relaxed);
  return false;
}

// Opens the next chunk that nobody has touched, from `c` on.
bool find_untouched(Pool& pool, LocalSeat& seat, uint32_t s, uint64_t c, Need need, ChunkRef* found,
                    Status* why) {
  Segment& segment = *pool.segment[s];
  for (; c < segment.chunks; ++c) {
    Chunk& chunk = segment.chunk[c];
    if (is_open(chunk) || !try_acquire(pool, seat, chunk.owner)) continue;
    if (Status status = open_chunk(pool, s, c); !status.ok()) {
      release(pool, chunk.owner);
      *why = status;
      return false;  // the medium is full; open chunks elsewhere may still have room
    }
    if (!has_free(chunk, withheld(pool, {s, c}, need))) {
      release(pool, chunk.owner);
      continue;
    }
    *found = {s, c};
    return true;
  }
  return false;
}

}  // namespace

uint64_t withheld(const Pool& pool, ChunkRef c, Need need) {
  const bool has_reserve = c.segment == 0 && c.chunk == first_chunk(*pool.segment[0]);
  return has_reserve && need == Need::ordinary ? ~0ULL : 0;
}

bool has_free(const Chunk& chunk, uint64_t withheld_bits) {
  if ((chunk.free[0].load_relaxed() & ~withheld_bits) != 0) return true;
  return std::any_of(std::begin(chunk.free) + 1, std::end(chunk.free),
                     [](const Word& word) { return word.load_relaxed() != 0; });
}

bool is_whole(const Chunk& chunk) {
  return std::all_of(std::begin(chunk.free), std::end(chunk.free),
                     [](const Word& word) { return word.load_relaxed() == ~0ULL; });
}

Status open_chunk(Pool& pool, uint32_t s, uint64_t c) {
  Segment& segment = *pool.segment[s];
  Chunk& chunk = segment.chunk[c];
  if (is_open(chunk)) return Status();
  format::BlockRecord* records = &segment.record[c * chunk_blocks];
  const uint64_t records_size = sizeof *records * chunk_blocks;
  if (segment.reserve && backed(segment).load() == 0) {
    CAIRN_TRY(segment.reserve(Pool::offset_in(segment, records), records_size));
    CAIRN_TRY(segment.reserve((c * chunk_blocks) << format::block_shift, format::chunk_size));
  }
  pool.store(chunk.state, format::chunk_initialising);
  // Where untouched memory is zero, the records say already all that there is to say.
  if (!segment.fresh_zero) {
    for (uint64_t b = 0; b < chunk_blocks; ++b) pool.store(records[b].owner, format::record_free);
    pool.flush(records, records_size);
  }
  for (Word& word : chunk.free) pool.store(word, ~0ULL);
  pool.store(chunk.state, format::chunk_open);
  pool.flush(&chunk, sizeof chunk);
  uint64_t end = opened(segment).load();
  while (end < c + 1 && !pool.compare_exchange(opened(segment), end, c + 1)) {
  }
  // An untouched chunk is taken to hold zeros: it must not be found untouched once it holds data.
  return pool.fence();
}

bool find_chunk(Pool& pool, LocalSeat& seat, Need need, bool whole, ChunkRef* found, Status* why) {
  const uint32_t segments = pool.segments.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < segments; ++i) {
    const uint32_t s = (seat.lane + i) % segments;
    if (find_open(pool, seat, s, need, whole, looks_per_chunk, found)) return true;
    const uint64_t end = opened_end(*pool.segment[s]);
    if (find_untouched(pool, seat, s, end, need, found, why)) return true;
  }
  // Nothing is untouched: whatever has room will do, also what was left out on the way.
  for (uint32_t i = 0; i < segments; ++i) {
    const uint32_t s = (seat.lane + i) % segments;
    if (find_open(pool, seat, s, need, whole, look_everywhere, found)) return true;
    if (find_untouched(pool, seat, s, first_chunk(*pool.segment[s]), need, found, why)) return true;
  }
  return false;
}

void note_backed(Pool& pool, Segment& segment) {
  // Of memory only: a file's extents are durable at its next fsync, and this word could be so before.
  if (pool.identity->medium.load() == static_cast<uint64_t>(media::Kind::tmpfs))
    pool.store_flush(backed(segment), 1);
}

}  // namespace cairn::pool
