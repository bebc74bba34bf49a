#include "pool/space/free_bits.h"

#include <algorithm>
#include <bit>

#include "pool/space/free_chunks.h"

namespace cairn::pool {
namespace {

using format::Chunk;
using format::chunk_blocks;

constexpr unsigned words_per_chunk = chunk_blocks / bits_per_word;

uint64_t mask_of(unsigned first, unsigned count) {
  return (count == bits_per_word ? ~0ULL : (1ULL << count) - 1) << first;
}

// Returns the first run of `wanted` free bits from bit `from` on, else the longest from there on.
BitRun find_run_from(const Chunk& chunk, uint64_t reserved, unsigned wanted, unsigned from) {
  BitRun best;
  BitRun open;
  unsigned at = from % bits_per_word;
  for (unsigned w = from / bits_per_word; w < words_per_chunk; ++w, at = 0) {
    uint64_t bits = chunk.free[w].load_relaxed();
    if (w == 0) bits &= ~reserved;
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

}  // namespace

BitRun find_last(const Chunk& chunk, uint64_t reserved) {
  for (unsigned w = words_per_chunk; w-- > 0;) {
    uint64_t bits = chunk.free[w].load_relaxed();
    if (w == 0) bits &= ~reserved;
    if (bits != 0)
      return {w * bits_per_word + bits_per_word - 1 - static_cast<unsigned>(std::countl_zero(bits)),
              1};
  }
  return {};
}

BitRun find_run(const Chunk& chunk, uint64_t reserved, unsigned wanted, unsigned hint) {
  if (hint != 0 && hint < chunk_blocks) {
    const BitRun next = find_run_from(chunk, reserved, wanted, hint);
    if (next.count == wanted) return next;
  }
  return find_run_from(chunk, reserved, wanted, 0);
}

uint64_t count_free(const Chunk& chunk) {
  uint64_t count = 0;
  for (const Word& word : chunk.free)
    count += static_cast<uint64_t>(std::popcount(word.load_relaxed()));
  return count;
}

void set_bits(Pool& pool, Segment& segment, uint64_t index, uint64_t count) {
  // Blocks that come back into the process's current chunk are taken next: they are warm.
  if (pool.current_chunk.load(std::memory_order_acquire) ==
      pack({segment.number, index / chunk_blocks}))
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
    if (count == 0 || index % chunk_blocks == 0)
      note_freed(pool, segment, (index - 1) / chunk_blocks);
  }
}

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

bool is_free_bit(const Pool& pool, BlockRef block) {
  const uint64_t bit = block.index() % chunk_blocks;
  return (pool.chunk(block).free[bit / bits_per_word].load() >> (bit % bits_per_word) & 1) != 0;
}

}  // namespace cairn::pool
