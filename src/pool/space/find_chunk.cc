#include "pool/space/find_chunk.h"

#include <algorithm>

#include "pool/core/lock_word.h"
#include "pool/space/free_bits.h"
#include "pool/space/free_chunks.h"

namespace cairn::pool {
namespace {

using format::Chunk;
using format::chunk_blocks;

// The number of used chunks that are looked at for each one that is opened: blocks that a killed
// process lost are found again in time, and finding a chunk costs the same however large the pool
// is.
constexpr uint64_t looks_per_chunk = 8;
constexpr uint64_t look_everywhere = UINT64_MAX;

bool acquire_with_room(Pool& pool, LocalSeat& seat, ChunkRef c, Need need, bool whole) {
  Chunk& chunk = pool.segment[c.segment]->chunk[c.chunk];
  if (!is_open(chunk)) return false;
  if (whole ? !is_whole(chunk) : !has_free(chunk, reserved_bits(pool, c, need))) return false;
  return try_acquire(pool, seat, chunk.owner);
}

// Looks at up to `looks` open chunks, from where the last search of this process ended.
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

enum class ChunkOpening : uint8_t { opened, taken, medium_full };

// Opens an untouched chunk for this process. `taken`: another process was faster.
ChunkOpening open_ours(Pool& pool, LocalSeat& seat, ChunkRef c, Need need, Status* why) {
  Chunk& chunk = pool.segment[c.segment]->chunk[c.chunk];
  if (is_open(chunk) || !try_acquire(pool, seat, chunk.owner)) return ChunkOpening::taken;
  if (Status status = open_chunk(pool, c.segment, c.chunk); !status.ok()) {
    release(pool, chunk.owner);
    *why = status;
    return ChunkOpening::medium_full;
  }
  if (has_free(chunk, reserved_bits(pool, c, need))) return ChunkOpening::opened;
  release(pool, chunk.owner);
  return ChunkOpening::taken;
}

// Opens the next untouched chunk, from `c` on.
bool find_untouched(Pool& pool, LocalSeat& seat, uint32_t s, uint64_t c, Need need, ChunkRef* found,
                    Status* why) {
  Segment& segment = *pool.segment[s];
  for (; c < segment.chunks; ++c) {
    switch (open_ours(pool, seat, {s, c}, need, why)) {
      case ChunkOpening::opened:
        *found = {s, c};
        return true;
      case ChunkOpening::taken:
        break;
      case ChunkOpening::medium_full:
        return false;  // open chunks elsewhere may still have room
    }
  }
  return false;
}

// Opens a chunk whose memory went back to the system.
bool find_released(Pool& pool, LocalSeat& seat, uint32_t s, Need need, ChunkRef* found,
                   Status* why) {
  Segment& segment = *pool.segment[s];
  for (uint64_t c = next_released(segment, first_chunk(segment)); c != no_chunk;
       c = next_released(segment, c + 1)) {
    const ChunkOpening opening = open_ours(pool, seat, {s, c}, need, why);
    if (opening == ChunkOpening::medium_full) return false;
    if (is_open(segment.chunk[c])) forget_released(segment, c);
    if (opening != ChunkOpening::opened) continue;
    *found = {s, c};
    return true;
  }
  return false;
}

bool find_freed(Pool& pool, LocalSeat& seat, Need need, Want want, ChunkRef* found) {
  if (want == Want::pieces && find_room(pool, seat, need, found)) return true;
  if (find_whole(pool, seat, found)) return true;
  const bool whole = want != Want::pieces;
  const uint32_t segments = pool.segments.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < segments; ++i) {
    const uint32_t s = (seat.lane + i) % segments;
    if (find_open(pool, seat, s, need, whole, looks_per_chunk, found)) return true;
  }
  return false;
}

// Free pieces of chunks are many if they are more than this and a quarter of the used blocks.
constexpr uint64_t many_pieces = (64ULL << 20) >> format::block_shift;
// The number of opened chunks between two counts, which look at all chunks that the pool holds; at
// least an eighth of them.
constexpr uint32_t opened_per_count = 16;

// Returns true if the free pieces of partly used chunks add up to much.
bool has_many_pieces(Pool& pool) {
  if (pool.opened_since_count.fetch_add(1, std::memory_order_relaxed) <
      pool.next_count.load(std::memory_order_relaxed))
    return pool.many_pieces.load(std::memory_order_relaxed);
  uint64_t pieces = 0;
  uint64_t in_use = 0;
  uint64_t held = 0;
  const uint32_t segments = pool.segments.load(std::memory_order_acquire);
  for (uint32_t s = 0; s < segments; ++s) {
    Segment& segment = *pool.segment[s];
    const uint64_t end = opened_end(segment);
    for (uint64_t c = first_chunk(segment); c < end; ++c) {
      if (!is_open(segment.chunk[c])) continue;
      ++held;
      const uint64_t free = count_free(segment.chunk[c]);
      if (free == chunk_blocks) continue;
      pieces += free;
      in_use += chunk_blocks - free;
    }
  }
  const bool many = pieces > many_pieces && pieces > in_use / 4;
  pool.many_pieces.store(many, std::memory_order_relaxed);
  pool.next_count.store(std::max<uint32_t>(opened_per_count, static_cast<uint32_t>(held / 8)),
                        std::memory_order_relaxed);
  pool.opened_since_count.store(0, std::memory_order_relaxed);
  return many;
}

}  // namespace

Status open_chunk(Pool& pool, uint32_t s, uint64_t c) {
  Segment& segment = *pool.segment[s];
  Chunk& chunk = segment.chunk[c];
  if (is_open(chunk)) return Status();
  format::BlockRecord* records = &segment.record[c * chunk_blocks];
  const uint64_t records_size = sizeof *records * chunk_blocks;
  // The chunk's memory may have been released while a process populated the segment.
  const bool was_released = chunk.releases.load() != 0;
  if (segment.reserve && (was_released || !is_backed(segment))) {
    CAIRN_TRY(segment.reserve(Pool::offset_in(segment, records), records_size));
    const uint64_t begin = (c * chunk_blocks) << format::block_shift;
    CAIRN_TRY(segment.reserve(begin, format::chunk_size));
    segment.region.note_untouched(begin);
  }
  // On untouched zero memory the records are correct already. A chunk whose release was cut short
  // keeps its contents and its state until its records are written.
  const bool cut_short = (chunk.state.load() & 0xff) == format::chunk_releasing;
  if (!cut_short) pool.store(chunk.state, format::chunk_initialising);
  if (!segment.fresh_zero || cut_short) {
    for (uint64_t b = 0; b < chunk_blocks; ++b) pool.store(records[b].owner, format::record_free);
    pool.flush(records, records_size);
  }
  for (Word& word : chunk.free) pool.store(word, ~0ULL);
  pool.store(chunk.state, format::chunk_open);
  pool.flush(&chunk, sizeof chunk);
  note_opened(pool, segment, c);
  // An untouched chunk is taken to hold zeros: it must not be found untouched once it holds data.
  return pool.fence();
}

bool find_chunk(Pool& pool, LocalSeat& seat, Need need, Want want, ChunkRef* found, Status* why) {
  if (find_freed(pool, seat, need, want, found)) return true;
  // Untouched memory would be taken next. Before that, removed blocks come back, if no process can
  // be copying from them any more.
  if (pool.client != nullptr && pool.client->reclaim_passed(seat) &&
      find_freed(pool, seat, need, want, found))
    return true;
  if (want != Want::pieces && has_many_pieces(pool)) {
    if (want == Want::chunk) return false;
    if (find_room(pool, seat, need, found)) return true;
  }
  const uint32_t segments = pool.segments.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < segments; ++i) {
    const uint32_t s = (seat.lane + i) % segments;
    if (find_released(pool, seat, s, need, found, why)) return true;
    const uint64_t end = opened_end(*pool.segment[s]);
    if (find_untouched(pool, seat, s, end, need, found, why)) return true;
  }
  // No chunk is untouched: any chunk with room will do, also one that was left out on the way.
  const bool whole = want == Want::chunk;
  for (uint32_t i = 0; i < segments; ++i) {
    const uint32_t s = (seat.lane + i) % segments;
    if (find_open(pool, seat, s, need, whole, look_everywhere, found)) return true;
    if (find_untouched(pool, seat, s, first_chunk(*pool.segment[s]), need, found, why)) return true;
  }
  return false;
}

void leave_chunk(Pool& pool, ChunkRef c, uint64_t owner) {
  note_left(pool, c);
  pool.compare_exchange(pool.segment[c.segment]->chunk[c.chunk].owner, owner, 0);
}

}  // namespace cairn::pool
