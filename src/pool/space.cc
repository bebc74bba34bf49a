#include "pool/space.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "pool/lock.h"

namespace cairn::pool {
namespace {

using format::Chunk;
using format::chunk_blocks;
using format::InFlight;

constexpr unsigned bits_per_word = 64;
constexpr unsigned words_per_chunk = chunk_blocks / bits_per_word;

struct BitRun {
  unsigned first = 0;
  unsigned count = 0;
};

// The first run of `wanted` free bits from bit `from` on, else the longest from there on.
BitRun find_run_from(const Chunk& chunk, uint64_t withheld_bits, unsigned wanted, unsigned from) {
  BitRun best;
  BitRun open;
  unsigned at = from % bits_per_word;
  for (unsigned w = from / bits_per_word; w < words_per_chunk; ++w, at = 0) {
    uint64_t bits = chunk.free[w].load_relaxed();
    if (w == 0) bits &= ~withheld_bits;
    while (at < bits_per_word) {
      const uint64_t rest = bits >> at;
      if (rest == 0) {
        open.count = 0;
        break;
      }
      const auto zeros = static_cast<unsigned>(std::countr_zero(rest));
      if (zeros != 0) open.count = 0;
      at += zeros;
      const auto ones = static_cast<unsigned>(std::countr_one(bits >> at));
      if (open.count == 0) open.first = w * bits_per_word + at;
      open.count += ones;
      at += ones;
      if (open.count > best.count) best = open;
      if (best.count >= wanted) return {best.first, wanted};
    }
  }
  return best;
}

// The last free bit.
BitRun find_last(const Chunk& chunk, uint64_t withheld_bits) {
  for (unsigned w = words_per_chunk; w-- > 0;) {
    uint64_t bits = chunk.free[w].load_relaxed();
    if (w == 0) bits &= ~withheld_bits;
    if (bits != 0)
      return {w * bits_per_word + bits_per_word - 1 - static_cast<unsigned>(std::countl_zero(bits)),
              1};
  }
  return {};
}

// The first run of `wanted` free bits behind the last one taken, else anywhere, else the longest.
BitRun find_run(const Chunk& chunk, uint64_t withheld_bits, unsigned wanted, unsigned hint) {
  if (hint != 0 && hint < chunk_blocks) {
    const BitRun next = find_run_from(chunk, withheld_bits, wanted, hint);
    if (next.count == wanted) return next;
  }
  return find_run_from(chunk, withheld_bits, wanted, 0);
}

uint64_t mask_of(unsigned first, unsigned count) {
  return (count == bits_per_word ? ~0ULL : (1ULL << count) - 1) << first;
}

void set_bits(Pool& pool, Segment& segment, uint64_t index, uint64_t count) {
  // What came back into the chunk that this process takes from is taken next: it is warm.
  const ChunkRef current = unpack(pool.current_chunk.load(std::memory_order_relaxed));
  if (current.chunk == index / chunk_blocks && pool.segment[current.segment].get() == &segment)
    pool.next_bit.store(static_cast<uint32_t>(index % chunk_blocks), std::memory_order_relaxed);
  while (count != 0) {
    Chunk& chunk = segment.chunk[index / chunk_blocks];
    const auto bit = static_cast<unsigned>(index % chunk_blocks);
    const unsigned in_word = bit % bits_per_word;
    const auto n = static_cast<unsigned>(std::min<uint64_t>(count, bits_per_word - in_word));
    Word& word = chunk.free[bit / bits_per_word];
    segment.region.fetch_or(word, mask_of(in_word, n));
    pool.flush(&word, sizeof word);
    index += n;
    count -= n;
  }
}

// Clears the bits of a run; returns how many from its start were ours to take. The others that this
// call cleared are given back.
unsigned clear_bits(Pool& pool, Segment& segment, Chunk& chunk, BitRun run) {
  for (unsigned done = 0; done < run.count;) {
    const unsigned bit = run.first + done;
    const unsigned in_word = bit % bits_per_word;
    const unsigned n = std::min(run.count - done, bits_per_word - in_word);
    Word& word = chunk.free[bit / bits_per_word];
    const uint64_t mask = mask_of(in_word, n);
    uint64_t got = segment.region.fetch_and(word, ~mask) & mask;
    pool.flush(&word, sizeof word);
    if (got != mask) {
      const auto prefix = static_cast<unsigned>(std::countr_one(got >> in_word));
      got &= ~mask_of(in_word, prefix);
      if (got != 0) segment.region.fetch_or(word, got);
      return done + prefix;
    }
    done += n;
  }
  return run.count;
}

void write_records(Pool& pool, Segment& segment, uint64_t index, uint64_t count, uint64_t owner,
                   uint64_t file_block, bool* zero) {
  for (uint64_t i = 0; i < count; ++i) {
    format::BlockRecord& record = segment.record[index + i];
    *zero = *zero && format::record_is_zero(record.owner.load_relaxed());
    segment.region.store(record.file_block, file_block + i);
    segment.region.store(record.owner, owner);
  }
  pool.flush(&segment.record[index], count * sizeof(format::BlockRecord));
}

void free_records(Pool& pool, Segment& segment, uint64_t index, uint64_t count, uint64_t flags) {
  for (uint64_t i = 0; i < count; ++i)
    segment.region.store(segment.record[index + i].owner, format::record_free | flags);
  pool.flush(&segment.record[index], count * sizeof(format::BlockRecord));
}

InFlight* free_slot(format::Seat& seat, unsigned* number) {
  for (unsigned i = 0; i < format::in_flight_slots; ++i) {
    if (seat.in_flight[i].run.load_relaxed() == 0) {
      *number = i;
      return &seat.in_flight[i];
    }
  }
  return nullptr;
}

// The lines of the records of [first, last]: they are about to be stored to.
void prefetch_records(const Segment& segment, uint64_t first, uint64_t last) {
  constexpr uint64_t per_line = 64 / sizeof(format::BlockRecord);
  for (uint64_t i = first; i <= last; i += per_line)
    persist::prefetch_for_store(&segment.record[i]);
}

// Takes a run from one chunk, from bit `hint` on if there is one; count 0 if it has none.
Run take_from(Pool& pool, LocalSeat& seat, ChunkRef where, const Request& request,
              unsigned hint = 0) {
  Segment& segment = *pool.segment[where.segment];
  Chunk& chunk = segment.chunk[where.chunk];
  Run run;
  InFlight* slot = free_slot(*seat.words, &run.slot);
  assert(slot != nullptr);
  if (slot == nullptr) return run;
  for (;;) {
    const uint64_t kept = withheld(pool, where, request.need);
    const BitRun bits = request.use == Use::lookup && request.wanted == 1
                            ? find_last(chunk, kept)
                            : find_run(chunk, kept, request.wanted, hint);
    if (bits.count == 0) return run;
    const uint64_t index = where.chunk * chunk_blocks + bits.first;
    // With what the next one will take, if it goes on like this.
    prefetch_records(segment, index, index + bits.count + bits.count / 8 + 3);
    run.first = BlockRef::make(where.segment, index);
    // The slot stands before the bits are cleared, so that a death in between loses nothing.
    pool.store(slot->inode, request.inode);
    pool.store(slot->file_block, request.file_block);
    pool.store(slot->run,
               format::in_flight_run(run.first, bits.count, request.level, format::phase_taking));
    run.count = clear_bits(pool, segment, chunk, bits);
    if (run.count == 0) {
      pool.store(slot->run, 0);
      continue;
    }
    run.zero = true;
    write_records(pool, segment, run.first.index(), run.count,
                  format::record_of(request.inode, request.level, seat.lane), request.file_block,
                  &run.zero);
    if (run.count != bits.count) {
      pool.store(slot->run,
                 format::in_flight_run(run.first, run.count, request.level, format::phase_taking));
    }
    return run;
  }
}

void drop_current(Pool& pool, uint64_t current) {
  const uint64_t owner = pool.current_owner.load();
  if (!pool.current_chunk.compare_exchange_strong(current, UINT64_MAX)) return;
  const ChunkRef c = unpack(current);
  // Acquired by any thread of this process.
  uint64_t mine = owner;
  pool.compare_exchange(pool.segment[c.segment]->chunk[c.chunk].owner, mine, 0);
}

void make_current(Pool& pool, LocalSeat& seat, ChunkRef c) {
  pool.current_owner.store(seat.lock_word);
  pool.next_bit.store(0, std::memory_order_relaxed);
  pool.current_chunk.store(pack(c), std::memory_order_relaxed);
}

// Anybody's chunk.
Run take_anywhere(Pool& pool, LocalSeat& seat, const Request& request) {
  const uint32_t segments = pool.segments.load(std::memory_order_acquire);
  for (uint32_t s = 0; s < segments; ++s) {
    Segment& segment = *pool.segment[s];
    for (uint64_t c = first_chunk(segment); c < segment.chunks; ++c) {
      Chunk& chunk = segment.chunk[c];
      if (!is_open(chunk)) continue;
      if (!has_free(chunk, withheld(pool, {s, c}, request.need))) continue;
      Run run = take_from(pool, seat, {s, c}, request);
      if (run.count != 0) return run;
    }
  }
  return {};
}

// Is a block listed as being taken by a seat other than those of `lane`?
bool taken_by_others(Pool& pool, BlockRef block, uint32_t lane) {
  return !pool.for_each_lane([&](uint32_t l) {
    if (l == lane) return true;
    for (const format::Seat& seat : pool.lanes[l].seat) {
      for (const InFlight& slot : seat.in_flight) {
        const uint64_t run = slot.run.load();
        if (run == 0) continue;
        const BlockRef first = format::in_flight_first(run);
        if (block.value >= first.value && block.value < first.value + format::in_flight_count(run))
          return false;
      }
    }
    return true;
  });
}

bool is_free_bit(Pool& pool, BlockRef block) {
  const uint64_t bit = block.index() % chunk_blocks;
  return (pool.chunk(block).free[bit / bits_per_word].load() >> (bit % bits_per_word) & 1) != 0;
}

}  // namespace

Result<Run> take(Pool& pool, LocalSeat& seat, const Request& request) {
  assert(request.wanted >= 1 && request.wanted <= chunk_blocks);
  const Need need = request.need;
  const bool whole = request.wanted == chunk_blocks;
  Status medium_full;
  for (;;) {
    const uint64_t current = pool.current_chunk.load(std::memory_order_relaxed);
    if (current != UINT64_MAX) [[likely]] {
      const ChunkRef where = unpack(current);
      const bool partly = whole && !is_whole(pool.segment[where.segment]->chunk[where.chunk]);
      if (!partly) {
        Run run =
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
    ChunkRef found;
    if (!(whole && find_chunk(pool, seat, need, true, &found, &medium_full)) &&
        !find_chunk(pool, seat, need, false, &found, &medium_full))
      break;
    make_current(pool, seat, found);
    if (whole && !is_whole(pool.segment[found.segment]->chunk[found.chunk])) {
      Run run = take_from(pool, seat, found, request);
      if (run.count != 0) return run;
    }
  }
  for (int attempt = 0; attempt < 4; ++attempt) {
    Run run = take_anywhere(pool, seat, request);
    if (run.count != 0) return run;
    bool more = false;
    if (attempt == 0 && pool.load_new_segments) {
      const uint32_t before = pool.segments.load();
      if (pool.load_new_segments(pool).ok() && pool.segments.load() != before)
        return take(pool, seat, request);
      more = true;
    }
    if (attempt == 1) more = pool.client != nullptr && pool.client->reclaim_everything(seat);
    if (attempt == 2) more = repair_free_bits(pool);
    if (!more && attempt > 1) break;
  }
  // Reclaiming may have emptied whole chunks of others, or the race with them was lost.
  ChunkRef found;
  if (find_chunk(pool, seat, need, false, &found, &medium_full)) {
    make_current(pool, seat, found);
    Run run = take_from(pool, seat, found, request);
    if (run.count != 0) return run;
  }
  if (!medium_full.ok()) return medium_full;
  return fail(ENOSPC, "pool %s is full", pool.path.c_str());
}

void settle(Pool& pool, LocalSeat& seat, const Run& run) {
  pool.store(seat.words->in_flight[run.slot].run, 0);
}

void give_back(Pool& pool, BlockRef first, uint32_t count, bool still_zero) {
  Segment& segment = *pool.segment[first.segment()];
  free_records(pool, segment, first.index(), count, still_zero ? format::record_known_zero : 0);
  set_bits(pool, segment, first.index(), count);
}

void free_published(Pool& pool, LocalSeat& seat, BlockRef first, uint32_t count, Word* entries) {
  unsigned number = 0;
  InFlight* slot = free_slot(*seat.words, &number);
  assert(slot != nullptr);
  Segment& segment = *pool.segment[first.segment()];
  // A leaf or a node has one entry for all; data blocks one each.
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

void recover_in_flight(Pool& pool, format::Seat& seat, uint32_t lane) {
  for (InFlight& slot : seat.in_flight) {
    const uint64_t run = slot.run.load();
    if (run == 0) continue;
    const BlockRef first = format::in_flight_first(run);
    const uint32_t count = format::in_flight_count(run);
    const unsigned level = format::in_flight_level(run);
    const unsigned phase = format::in_flight_phase(run);
    if (!pool.valid_run(first, count)) {
      pool.store(slot.run, 0);
      continue;
    }
    Segment& segment = *pool.segment[first.segment()];
    if (phase == format::phase_freeing) {
      // Nobody can have taken them: their bits are not set yet.
      if (Word* entries = pool.word_at(slot.file_block.load()); slot.file_block.load() != 0) {
        const uint32_t words = level == format::level_leaf ? 1 : count;
        for (uint32_t i = 0; entries != nullptr && i < words; ++i) pool.store_flush(entries[i], 0);
      }
      free_records(pool, segment, first.index(), count, 0);
    }
    for (uint32_t i = 0; i < count; ++i) {
      const BlockRef block = first.plus(i);
      format::BlockRecord& record = pool.record(block);
      const uint64_t owner = record.owner.load();
      const uint64_t inode = slot.inode.load();
      const uint64_t file_block = slot.file_block.load() + i;
      if (phase == format::phase_taking && format::record_state(owner) == format::record_used) {
        if (owner == format::record_of(inode, level, lane) &&
            record.file_block.load() == file_block && pool.client != nullptr &&
            !pool.client->is_published(inode, file_block, level, block))
          give_back(pool, block, 1);
        continue;
      }
      // Free by its record, but its bit is clear: lost between the two, unless another seat is just
      // taking it.
      // Looked at again after that: who was taking it has written its record before leaving the list.
      if (format::record_is_free(owner) && !is_free_bit(pool, block) &&
          !taken_by_others(pool, block, lane) && format::record_is_free(record.owner.load()))
        set_bits(pool, segment, block.index(), 1);
    }
    pool.store(slot.run, 0);
  }
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
        usage.free += chunk_blocks;
        if (s == 0 && c == first_chunk(segment)) usage.reserve = reserve_blocks;
        continue;
      }
      for (const Word& word : chunk.free)
        usage.free += static_cast<uint64_t>(std::popcount(word.load_relaxed()));
      if (s == 0 && c == first_chunk(segment))
        usage.reserve = static_cast<uint64_t>(std::popcount(chunk.free[0].load_relaxed()));
    }
  }
  return usage;
}

bool repair_free_bits(Pool& pool) {
  bool repaired = false;
  const uint32_t segments = pool.segments.load(std::memory_order_acquire);
  for (uint32_t s = 0; s < segments; ++s) {
    Segment& segment = *pool.segment[s];
    for (uint64_t c = first_chunk(segment); c < segment.chunks; ++c) {
      if (!is_open(segment.chunk[c])) continue;
      for (uint64_t b = c * chunk_blocks; b < (c + 1) * chunk_blocks; ++b) {
        const BlockRef block = BlockRef::make(s, b);
        if (!format::record_is_free(segment.record[b].owner.load()) || is_free_bit(pool, block) ||
            taken_by_others(pool, block, UINT32_MAX))
          continue;
        // Again, now that nobody lists it: whoever did may have written its record meanwhile.
        if (!format::record_is_free(segment.record[b].owner.load())) continue;
        set_bits(pool, segment, b, 1);
        repaired = true;
      }
    }
  }
  return repaired;
}

}  // namespace cairn::pool
