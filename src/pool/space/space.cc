#include "pool/space/space.h"

#include <bit>
#include <cassert>

#include "pool/space/find_chunk.h"
#include "pool/space/free_bits.h"
#include "pool/space/in_flight.h"
#include "pool/space/lost_bits.h"
#include "pool/space/release.h"

namespace cairn::pool {
namespace {

using format::Chunk;
using format::chunk_blocks;
using format::InFlight;

// Claims the records of a run whose bits this process has cleared. Returns how many from its start
// were free: a process that looks for lost bits (repair_free_bits) may have set the bit of a block
// that was just being taken. `*zero`: all of those are known to hold zeros. `store` stores to a
// word of the segment.
template <typename Store>
uint32_t claim_records(format::BlockRecord* record, uint32_t count, uint64_t owner,
                       uint64_t file_block, bool* zero, Store store) {
  bool all_zero = true;
  uint32_t n = 0;
  for (; n < count; ++n) {
    const uint64_t held = record[n].owner.load_relaxed();
    if (!format::record_is_free(held)) [[unlikely]]
      break;
    all_zero &= format::record_is_zero(held);
    store(record[n].file_block, file_block + n);
    store(record[n].owner, owner);
  }
  *zero = all_zero;
  return n;
}

uint32_t take_records(Pool& pool, Segment& segment, uint64_t index, uint32_t count, uint64_t owner,
                      uint64_t file_block, bool* zero) {
  format::BlockRecord* const record = &segment.record[index];
  persist::Region& region = segment.region;
  // The check is made once: a whole chunk has a thousand words, and is taken for every 2 MiB that
  // are written.
  const uint32_t n =
      region.stores_plainly()
          ? claim_records(record, count, owner, file_block, zero, persist::Region::store_plain)
          : claim_records(record, count, owner, file_block, zero,
                          [&](Word& word, uint64_t value) { region.store(word, value); });
  if (n != 0) pool.flush(record, n * sizeof *record);
  for (uint32_t i = n; i < count; ++i) {  // the others behind it get their bits back
    if (format::record_is_free(record[i].owner.load_relaxed()))
      set_bits(pool, segment, index + i, 1);
  }
  return n;
}

// Prefetches the lines of the records of [first, last], which are about to be stored to.
void prefetch_records(const Segment& segment, uint64_t first, uint64_t last) {
  constexpr uint64_t per_line = 64 / sizeof(format::BlockRecord);
  for (uint64_t i = first; i <= last; i += per_line)
    persist::prefetch_for_store(&segment.record[i]);
}

// Takes a run from one chunk, from bit `hint` on if there is one; count 0 if it has none.
BlockRun take_from(Pool& pool, LocalSeat& seat, ChunkRef where, const BlockRequest& request,
                   unsigned hint = 0) {
  Segment& segment = *pool.segment[where.segment];
  Chunk& chunk = segment.chunk[where.chunk];
  BlockRun run;
  InFlight* slot = free_slot(*seat.words, &run.slot);
  assert(slot != nullptr);
  if (slot == nullptr) return run;
  for (;;) {
    const uint64_t kept = reserved_bits(pool, where, request.need);
    const BitRun bits = request.use == Use::lookup && request.wanted == 1
                            ? find_last(chunk, kept)
                            : find_run(chunk, kept, request.wanted, hint);
    if (bits.count == 0) return run;
    const uint64_t index = where.chunk * chunk_blocks + bits.first;
    // The prefetch includes the records that the next run will take, if it continues.
    prefetch_records(segment, index, index + bits.count + bits.count / 8 + 3);
    run.first = BlockRef::make(where.segment, index);
    // The slot is stored before the bits are cleared, so that a death in between loses nothing.
    pool.store(slot->inode, request.inode);
    pool.store(slot->file_block, request.file_block);
    pool.store(slot->run,
               format::in_flight_run(run.first, bits.count, request.level, format::phase_taking));
    run.count = take_records(pool, segment, index, clear_bits(pool, segment, chunk, bits),
                             format::record_of(request.inode, request.level, seat.lane),
                             request.file_block, &run.zero);
    if (run.count == 0) {
      pool.store(slot->run, 0);
      continue;
    }
    if (bits.count == chunk_blocks && where.chunk + 1 < segment.chunks) {
      // A writer of whole chunks takes the next one next: the lines that it will wait for arrive
      // while 2 MiB are copied.
      persist::prefetch_for_store(&segment.chunk[where.chunk + 1]);
      prefetch_records(segment, index + chunk_blocks, index + 2 * chunk_blocks - 1);
    }
    if (run.count != bits.count) {
      pool.store(slot->run,
                 format::in_flight_run(run.first, run.count, request.level, format::phase_taking));
    }
    return run;
  }
}

void drop_current(Pool& pool, uint64_t current) {
  // Any thread of this process may have acquired the chunk.
  const uint64_t owner = pool.current_owner.load();
  if (pool.current_chunk.compare_exchange_strong(current, UINT64_MAX))
    leave_chunk(pool, unpack(current), owner);
}

void make_current(Pool& pool, LocalSeat& seat, ChunkRef c) {
  see_releases(*pool.segment[c.segment], c.chunk);
  pool.current_owner.store(seat.lock_word);
  pool.next_bit.store(0, std::memory_order_relaxed);
  // The release makes the mapping of the segment visible to a thread that sees the chunk.
  pool.current_chunk.store(pack(c), std::memory_order_release);
}

// The number of blocks from which on a request is for a run.
constexpr uint32_t run_min = 64;
Want want_of(const BlockRequest& request) {
  return request.wanted == chunk_blocks ? Want::chunk
         : request.wanted >= run_min    ? Want::run
                                        : Want::pieces;
}

// Takes blocks from a chunk of any process.
BlockRun take_anywhere(Pool& pool, LocalSeat& seat, const BlockRequest& request) {
  const uint32_t segments = pool.segments.load(std::memory_order_acquire);
  for (uint32_t s = 0; s < segments; ++s) {
    Segment& segment = *pool.segment[s];
    for (uint64_t c = first_chunk(segment); c < segment.chunks; ++c) {
      Chunk& chunk = segment.chunk[c];
      if (!is_open(chunk)) continue;
      if (!has_free(chunk, reserved_bits(pool, {s, c}, request.need))) continue;
      see_releases(segment, c);
      BlockRun run = take_from(pool, seat, {s, c}, request);
      if (run.count != 0) return run;
    }
  }
  return {};
}

}  // namespace

Result<BlockRun> take(Pool& pool, LocalSeat& seat, const BlockRequest& request) {
  assert(request.wanted >= 1 && request.wanted <= chunk_blocks);
  const Need need = request.need;
  const bool whole = request.wanted == chunk_blocks;
  Status medium_full;
  for (;;) {
    const uint64_t current = pool.current_chunk.load(std::memory_order_acquire);
    if (current != UINT64_MAX) [[likely]] {
      const ChunkRef where = unpack(current);
      const bool partly = whole && !is_whole(pool.segment[where.segment]->chunk[where.chunk]);
      if (!partly) {
        BlockRun run =
            take_from(pool, seat, where, request, pool.next_bit.load(std::memory_order_relaxed));
        if (run.count != 0) [[likely]] {
          if (request.use == Use::bytes)
            pool.next_bit.store(static_cast<uint32_t>(run.first.index() % chunk_blocks + run.count),
                                std::memory_order_relaxed);
          return run;
        }
      }
      drop_current(pool, current);
    }
    release_idle(pool, seat);
    ChunkRef found;
    const Want want = want_of(request);
    if (!find_chunk(pool, seat, need, want, &found, &medium_full) &&
        !(whole && find_chunk(pool, seat, need, Want::run, &found, &medium_full)))
      break;
    make_current(pool, seat, found);
    if (whole && !is_whole(pool.segment[found.segment]->chunk[found.chunk])) {
      BlockRun run = take_from(pool, seat, found, request);
      if (run.count != 0) return run;
    }
  }
  for (int attempt = 0; attempt < 4; ++attempt) {
    BlockRun run = take_anywhere(pool, seat, request);
    if (run.count != 0) return run;
    bool more = false;
    if (attempt == 0) {
      const uint32_t before = pool.segments.load();
      if (pool.see_growth().ok() && pool.segments.load() != before)
        return take(pool, seat, request);
      more = true;
    }
    if (attempt == 1) more = pool.client != nullptr && pool.client->reclaim_withheld(seat);
    if (attempt == 2) more = repair_free_bits(pool);
    if (!more && attempt > 1) break;
  }
  // Reclaiming may have emptied whole chunks of others, or another process won the race for them.
  ChunkRef found;
  if (find_chunk(pool, seat, need, Want::pieces, &found, &medium_full)) {
    make_current(pool, seat, found);
    BlockRun run = take_from(pool, seat, found, request);
    if (run.count != 0) return run;
  }
  if (!medium_full.ok()) {
    pool.fetch_add(pool.state->refused_count, 1);
    return medium_full;
  }
  return fail(ENOSPC, "pool %s is full", pool.path.c_str());
}

void clear_in_flight(Pool& pool, LocalSeat& seat, const BlockRun& run) {
  pool.store(seat.words->in_flight[run.slot].run, 0);
}

void free_published(Pool& pool, LocalSeat& seat, BlockRef first, uint32_t count, Word* entries) {
  unsigned number = 0;
  InFlight* slot = free_slot(*seat.words, &number);
  assert(slot != nullptr);
  Segment& segment = *pool.segment[first.segment()];
  // A leaf or a node has one entry for all blocks; data blocks have one each.
  const unsigned level = 0;
  pool.store(slot->file_block, entries == nullptr ? 0 : pool.address_of(entries));
  pool.store(slot->run, format::in_flight_run(first, count, level, format::phase_freeing));
  if (entries != nullptr) {
    for (uint32_t i = 0; i < count; ++i) pool.store(entries[i], 0);
    pool.flush(entries, count * sizeof(Word));
  }
  free_records(pool, segment, first.index(), count, 0);
  pool.store(slot->run, format::in_flight_run(first, count, level, format::phase_freed));
  set_bits(pool, segment, first.index(), count);
  pool.store(slot->run, 0);
}

void free_leaf(Pool& pool, LocalSeat& seat, BlockRef first, Word& entry) {
  unsigned number = 0;
  InFlight* slot = free_slot(*seat.words, &number);
  assert(slot != nullptr);
  Segment& segment = *pool.segment[first.segment()];
  constexpr auto count = static_cast<uint32_t>(chunk_blocks);
  pool.store(slot->file_block, pool.address_of(&entry));
  pool.store(slot->run,
             format::in_flight_run(first, count, format::level_leaf, format::phase_freeing));
  pool.store_flush(entry, 0);
  free_records(pool, segment, first.index(), count, 0);
  pool.store(slot->run,
             format::in_flight_run(first, count, format::level_leaf, format::phase_freed));
  set_bits(pool, segment, first.index(), count);
  pool.store(slot->run, 0);
}

Usage usage(Pool& pool) {
  Usage usage;
  const uint32_t segments = pool.segments.load(std::memory_order_acquire);
  for (uint32_t s = 0; s < segments; ++s) {
    const Segment& segment = *pool.segment[s];
    for (uint64_t c = first_chunk(segment); c < segment.chunks; ++c) {
      const Chunk& chunk = segment.chunk[c];
      usage.usable += chunk_blocks;
      if (!is_open(chunk)) {
        usage.untouched += chunk_blocks;
        if (s == 0 && c == first_chunk(segment)) usage.reserve = reserve_blocks;
        continue;
      }
      usage.held += count_free(chunk);
      if (s == 0 && c == first_chunk(segment))
        usage.reserve = static_cast<uint64_t>(std::popcount(chunk.free[0].load_relaxed()));
    }
  }
  usage.free = usage.held + usage.untouched;
  return usage;
}

}  // namespace cairn::pool
