#include "pool/space/free_blocks.h"

#include "pool/space/free_bits.h"

namespace cairn::pool {

void free_records(Pool& pool, Segment& segment, uint64_t index, uint64_t count, uint64_t flags) {
  for (uint64_t i = 0; i < count; ++i)
    segment.region.store(segment.record[index + i].owner, format::record_free | flags);
  pool.flush(&segment.record[index], count * sizeof(format::BlockRecord));
}

void give_back(Pool& pool, BlockRef first, uint32_t count, bool still_zero) {
  Segment& segment = *pool.segment[first.segment()];
  free_records(pool, segment, first.index(), count, still_zero ? format::record_known_zero : 0);
  set_bits(pool, segment, first.index(), count);
}

}  // namespace cairn::pool
