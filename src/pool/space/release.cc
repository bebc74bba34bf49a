#include "pool/space/release.h"

#include "base/coarse_clock.h"
#include "pool/core/lock_word.h"
#include "pool/space/free_bits.h"
#include "pool/space/free_blocks.h"
#include "pool/space/free_chunks.h"
#include "pool/space/in_flight.h"
#include "pool/space/lost_bits.h"

namespace cairn::pool {
namespace {

using format::Chunk;
using format::chunk_blocks;

// The time between looks, and the time that one may take: a look at a large pool's hints costs some
// microseconds, releasing a chunk up to some hundreds.
constexpr uint64_t look_every_ns = 1'000'000'000;
constexpr uint64_t go_on_after_ns = 50'000'000;
constexpr uint64_t budget_ns = 2'000'000;

// The owner that is recorded for blocks being released; no file has this inode.
constexpr uint64_t no_inode = 0;

// Takes all blocks of the chunk, so that no other process can. Returns false if some of them were
// taken.
bool take_all(Pool& pool, LocalSeat& seat, Segment& segment, uint64_t c) {
  Chunk& chunk = segment.chunk[c];
  const uint64_t first = c * chunk_blocks;
  const unsigned cleared = clear_bits(pool, segment, chunk, {0, chunk_blocks});
  uint32_t claimed = 0;
  const uint64_t ours = format::record_of(no_inode, 0, seat.lane);
  while (claimed < cleared) {
    format::BlockRecord& record = segment.record[first + claimed];
    if (!format::record_is_free(record.owner.load_relaxed())) break;
    segment.region.store(record.file_block, claimed);
    segment.region.store(record.owner, ours);
    ++claimed;
  }
  if (claimed == chunk_blocks) return true;
  free_records(pool, segment, first, claimed, 0);
  for (uint32_t i = 0; i < cleared; ++i) {
    if (format::record_is_free(segment.record[first + i].owner.load_relaxed()))
      set_bits(pool, segment, first + i, 1);
  }
  return false;
}

// Frees all blocks of the chunk again, with their contents.
void give_all_back(Pool& pool, Segment& segment, uint64_t c) {
  const uint64_t first = c * chunk_blocks;
  free_records(pool, segment, first, chunk_blocks, 0);
  pool.store_flush(segment.chunk[c].state, format::chunk_open);
  set_bits(pool, segment, first, chunk_blocks);
}

// Releases a chunk that the caller has acquired.
bool release_chunk(Pool& pool, LocalSeat& seat, uint32_t s, uint64_t c) {
  Segment& segment = *pool.segment[s];
  Chunk& chunk = segment.chunk[c];
  unsigned number = 0;
  format::InFlight* slot = free_slot(*seat.words, &number);
  if (slot == nullptr) return false;
  const uint64_t first = c * chunk_blocks;
  // The slot is stored before the bits are cleared, as a taker does.
  pool.store(slot->inode, no_inode);
  pool.store(slot->file_block, 0);
  pool.store(slot->run, format::in_flight_run(BlockRef::make(s, first), chunk_blocks, 0,
                                              format::phase_releasing));
  bool released = take_all(pool, seat, segment, c);
  if (released) {
    // If this process dies from here on, the chunk is opened as one that holds anything.
    pool.store_flush(chunk.state, format::chunk_releasing);
    pool.fetch_add(chunk.releases, 1);
    released = segment.release(first << format::block_shift, format::chunk_size).ok();
    if (released) {
      for (uint64_t i = 0; i < chunk_blocks; ++i)
        segment.region.store(segment.record[first + i].owner, 0);
      pool.flush(&segment.record[first], chunk_blocks * sizeof(format::BlockRecord));
      pool.store_flush(chunk.state, format::chunk_untouched);
      note_released(pool, {s, c});
    } else {
      give_all_back(pool, segment, c);
    }
  }
  pool.store(slot->run, 0);
  return released;
}

bool may_release(const Pool& pool, Segment& segment) {
  return segment.release != nullptr && pool.state->release_never.load() == 0 && !is_backed(segment);
}

}  // namespace

bool release_chunks(Pool& pool, LocalSeat& seat, uint64_t free_for_ns, uint64_t time_ns) {
  const uint64_t now = coarse_monotonic_ns();
  const uint64_t deadline = fine_monotonic_ns() + time_ns;
  const uint32_t segments = pool.segments.load(std::memory_order_acquire);
  for (uint32_t s = 0; s < segments; ++s) {
    Segment& segment = *pool.segment[s];
    if (!may_release(pool, segment)) continue;
    for (uint64_t c = next_whole(segment, first_chunk(segment)); c != no_chunk;
         c = next_whole(segment, c + 1)) {
      Chunk& chunk = segment.chunk[c];
      const uint64_t freed_at = chunk.freed_at.load();
      // A stamp in the future is from another boot, or damaged.
      if (freed_at <= now && now - freed_at < free_for_ns) continue;
      if (fine_monotonic_ns() >= deadline) return true;
      if (!is_open(chunk) || !is_whole(chunk) || !try_acquire(pool, seat, chunk.owner)) continue;
      const bool released = release_chunk(pool, seat, s, c);
      release(pool, chunk.owner);
      if (!released) return false;
    }
  }
  return false;
}

void release_idle(Pool& pool, LocalSeat& seat) {
  if (pool.segment[0]->release == nullptr) return;
  const uint64_t now = coarse_monotonic_ns();
  uint64_t due = pool.state->release_due.load_relaxed();
  // A time too far ahead is from another boot, or damaged.
  if (now < due && due - now <= look_every_ns) return;
  if (!pool.compare_exchange(pool.state->release_due, due, now + look_every_ns)) return;
  if (release_chunks(pool, seat, idle_ns, budget_ns))
    pool.store(pool.state->release_due, now + go_on_after_ns);
}

void see_releases(Segment& segment, uint64_t c) {
  if (segment.releases_seen == nullptr) return;
  const auto releases = static_cast<uint32_t>(segment.chunk[c].releases.load_relaxed());
  std::atomic<uint32_t>& seen = segment.releases_seen[c];
  if (seen.load(std::memory_order_relaxed) == releases) return;
  seen.store(releases, std::memory_order_relaxed);
  segment.region.forget_warmth(c * format::chunk_size, format::chunk_size);
}

void recover_release(Pool& pool, BlockRef first, uint32_t lane) {
  Segment& segment = *pool.segment[first.segment()];
  const uint64_t c = first.index() / chunk_blocks;
  Chunk& chunk = segment.chunk[c];
  if (!is_open(chunk)) {
    // The chunk's memory may be gone: it is opened like an untouched one, which reserves it anew.
    note_released(pool, {first.segment(), c});
    return;
  }
  const uint64_t theirs = format::record_of(no_inode, 0, lane);
  for (uint64_t i = 0; i < chunk_blocks; ++i) {
    if (segment.record[first.index() + i].owner.load() == theirs)
      give_back(pool, first.plus(i), 1);
    else
      repair_free_bit(pool, first.plus(i), lane);
  }
}

}  // namespace cairn::pool
