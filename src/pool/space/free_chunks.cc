#include "pool/space/free_chunks.h"

#include <algorithm>
#include <bit>

#include "base/coarse_clock.h"
#include "pool/core/lock_word.h"

namespace cairn::pool {
namespace {

using format::Chunk;
using format::ChunkHints;
using format::chunks_per_hints;

// The number of chunks with room that are tried before another kind of chunk is taken: others may
// work in all of them.
constexpr unsigned most_looks = 16;

using Bits = Word[chunks_per_hints / bits_per_word];

ChunkHints& hints_of(Segment& segment, uint64_t chunk) {
  return reinterpret_cast<ChunkHints*>(segment.chunk)[chunk / chunks_per_hints];
}
Word& word_of(Bits& bits, uint64_t chunk) { return bits[chunk % chunks_per_hints / bits_per_word]; }
uint64_t bit_of(uint64_t chunk) { return 1ULL << (chunk % bits_per_word); }

void set_hint(Segment& segment, Bits& bits, uint64_t chunk) {
  Word& word = word_of(bits, chunk);
  if ((word.load_relaxed() & bit_of(chunk)) == 0) segment.region.fetch_or(word, bit_of(chunk));
}
void clear_hint(Segment& segment, Bits& bits, uint64_t chunk) {
  Word& word = word_of(bits, chunk);
  if ((word.load_relaxed() & bit_of(chunk)) != 0) segment.region.fetch_and(word, ~bit_of(chunk));
}

// Returns the first chunk from `from` on whose bit is set in the words that `bits_at(slot, word)`
// returns.
template <typename BitsAt>
uint64_t next_hinted(Segment& segment, uint64_t from, BitsAt bits_at) {
  const uint64_t end = opened_end(segment);
  for (uint64_t c = from; c < end; c = (c / bits_per_word + 1) * bits_per_word) {
    const ChunkHints& hints = hints_of(segment, c);
    const uint64_t bits = bits_at(hints, c % chunks_per_hints / bits_per_word);
    const uint64_t rest = bits >> (c % bits_per_word);
    if (rest == 0) continue;
    c += static_cast<uint64_t>(std::countr_zero(rest));
    return c < end ? c : no_chunk;
  }
  return no_chunk;
}

uint64_t next_with_room(Segment& segment, uint64_t from) {
  return next_hinted(segment, from, [](const ChunkHints& hints, uint64_t word) {
    return hints.room[word].load_relaxed() & ~hints.whole[word].load_relaxed();
  });
}

bool is_chunk(const Pool& pool, ChunkRef c) {
  return c.segment < pool.segments.load(std::memory_order_acquire) &&
         c.chunk >= first_chunk(*pool.segment[c.segment]) &&
         c.chunk < pool.segment[c.segment]->chunks;
}

// Acquires the chunk if all of it is free.
bool acquire_whole(Pool& pool, LocalSeat& seat, ChunkRef c) {
  Segment& segment = *pool.segment[c.segment];
  Chunk& chunk = segment.chunk[c.chunk];
  ChunkHints& hints = hints_of(segment, c.chunk);
  clear_hint(segment, hints.whole, c.chunk);
  if (!is_open(chunk) || !is_whole(chunk)) return false;
  if (try_acquire(pool, seat, chunk.owner)) return true;
  set_hint(segment, hints.whole, c.chunk);
  return false;
}

// Acquires the chunk if any of it is free.
bool acquire_room(Pool& pool, LocalSeat& seat, ChunkRef c, Need need) {
  Segment& segment = *pool.segment[c.segment];
  Chunk& chunk = segment.chunk[c.chunk];
  if (!is_open(chunk)) return false;
  if (!has_free(chunk, 0)) {
    ChunkHints& hints = hints_of(segment, c.chunk);
    clear_hint(segment, hints.room, c.chunk);
    if (has_free(chunk, 0)) set_hint(segment, hints.room, c.chunk);
  }
  return has_free(chunk, reserved_bits(pool, c, need)) && try_acquire(pool, seat, chunk.owner);
}

// Calls visit(segment number) for all segments, the lane's own first, until it returns true.
template <typename Visit>
bool in_any_segment(const Pool& pool, const LocalSeat& seat, Visit visit) {
  const uint32_t segments = pool.segments.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < segments; ++i) {
    if (visit((seat.lane + i) % segments)) return true;
  }
  return false;
}

bool find_whole_by_hints(Pool& pool, LocalSeat& seat, uint32_t s, ChunkRef* found) {
  Segment& segment = *pool.segment[s];
  unsigned looks = most_looks;
  for (uint64_t c = next_whole(segment, first_chunk(segment)); c != no_chunk && looks > 0;
       c = next_whole(segment, c + 1), --looks) {
    if (!acquire_whole(pool, seat, {s, c})) continue;
    *found = {s, c};
    return true;
  }
  return false;
}

// Continues where the process last found a chunk: those at the start are found first by all.
bool find_room_by_hints(Pool& pool, LocalSeat& seat, uint32_t s, Need need, ChunkRef* found) {
  Segment& segment = *pool.segment[s];
  const uint64_t first = first_chunk(segment);
  const ChunkRef last = unpack(pool.search_from.load(std::memory_order_relaxed));
  uint64_t c = last.segment == s ? std::max(last.chunk, first) : first;
  bool from_start = c == first;
  for (unsigned looks = most_looks; looks > 0; --looks, ++c) {
    c = next_with_room(segment, c);
    if (c == no_chunk) {
      if (from_start) return false;
      from_start = true;
      c = next_with_room(segment, first);
      if (c == no_chunk) return false;
    }
    if (!acquire_room(pool, seat, {s, c}, need)) continue;
    pool.search_from.store(pack({s, c}), std::memory_order_relaxed);
    *found = {s, c};
    return true;
  }
  return false;
}

}  // namespace

void note_freed(Pool& pool, Segment& segment, uint64_t c) {
  Chunk& chunk = segment.chunk[c];
  ChunkHints& hints = hints_of(segment, c);
  set_hint(segment, hints.room, c);
  const uint64_t packed = pack({segment.number, c});
  if (!is_whole(chunk)) {
    if (pool.current_chunk.load(std::memory_order_relaxed) != packed) pool.recent_room.push(packed);
    return;
  }
  segment.region.store(chunk.freed_at, coarse_monotonic_ns());
  set_hint(segment, hints.whole, c);
  pool.recent_whole.push(packed);
}

void note_left(Pool& pool, ChunkRef c) {
  Segment& segment = *pool.segment[c.segment];
  const Chunk& chunk = segment.chunk[c.chunk];
  if (has_free(chunk, 0)) {
    // A chunk that was taken as a whole one may be left as one.
    note_freed(pool, segment, c.chunk);
    return;
  }
  ChunkHints& hints = hints_of(segment, c.chunk);
  clear_hint(segment, hints.room, c.chunk);
  if (has_free(chunk, 0)) set_hint(segment, hints.room, c.chunk);
}

void note_released(Pool& pool, ChunkRef c) {
  Segment& segment = *pool.segment[c.segment];
  ChunkHints& hints = hints_of(segment, c.chunk);
  clear_hint(segment, hints.whole, c.chunk);
  clear_hint(segment, hints.room, c.chunk);
  set_hint(segment, hints.released, c.chunk);
}

bool find_whole(Pool& pool, LocalSeat& seat, ChunkRef* found) {
  for (uint64_t packed = pool.recent_whole.pop(); packed != RecentChunks::none;
       packed = pool.recent_whole.pop()) {
    const ChunkRef c = unpack(packed);
    if (!is_chunk(pool, c) || !acquire_whole(pool, seat, c)) continue;
    *found = c;
    return true;
  }
  return in_any_segment(pool, seat,
                        [&](uint32_t s) { return find_whole_by_hints(pool, seat, s, found); });
}

bool find_room(Pool& pool, LocalSeat& seat, Need need, ChunkRef* found) {
  for (uint64_t packed = pool.recent_room.pop(); packed != RecentChunks::none;
       packed = pool.recent_room.pop()) {
    const ChunkRef c = unpack(packed);
    if (!is_chunk(pool, c) || !acquire_room(pool, seat, c, need)) continue;
    *found = c;
    return true;
  }
  return in_any_segment(pool, seat,
                        [&](uint32_t s) { return find_room_by_hints(pool, seat, s, need, found); });
}

uint64_t next_released(Segment& segment, uint64_t from) {
  return next_hinted(segment, from, [](const ChunkHints& hints, uint64_t word) {
    return hints.released[word].load_relaxed();
  });
}

uint64_t next_whole(Segment& segment, uint64_t from) {
  return next_hinted(segment, from, [](const ChunkHints& hints, uint64_t word) {
    return hints.whole[word].load_relaxed();
  });
}

void forget_released(Segment& segment, uint64_t c) {
  clear_hint(segment, hints_of(segment, c).released, c);
}

}  // namespace cairn::pool
