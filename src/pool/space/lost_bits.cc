#include "pool/space/lost_bits.h"

#include "pool/space/free_bits.h"
#include "pool/space/in_flight.h"

namespace cairn::pool {

using format::chunk_blocks;

bool repair_free_bit(Pool& pool, BlockRef block, uint32_t lane) {
  const format::BlockRecord& record = pool.record(block);
  if (!format::record_is_free(record.owner.load()) || is_free_bit(pool, block) ||
      is_in_flight_elsewhere(pool, block, lane))
    return false;
  // The record is read again, now that no slot lists the block: its taker has written the record
  // before leaving the list.
  if (!format::record_is_free(record.owner.load())) return false;
  set_bits(pool, *pool.segment[block.segment()], block.index(), 1);
  return true;
}

bool repair_free_bits(Pool& pool) {
  bool repaired = false;
  const uint32_t segments = pool.segments.load(std::memory_order_acquire);
  for (uint32_t s = 0; s < segments; ++s) {
    Segment& segment = *pool.segment[s];
    for (uint64_t c = first_chunk(segment); c < segment.chunks; ++c) {
      if (!is_open(segment.chunk[c])) continue;
      for (uint64_t b = c * chunk_blocks; b < (c + 1) * chunk_blocks; ++b) {
        if (repair_free_bit(pool, BlockRef::make(s, b), no_lane)) repaired = true;
      }
    }
  }
  return repaired;
}

}  // namespace cairn::pool
