#include "pool/space/space_recovery.h"

#include "pool/space/free_blocks.h"
#include "pool/space/in_flight.h"
#include "pool/space/lost_bits.h"
#include "pool/space/release.h"

namespace cairn::pool {

using format::Chunk;
using format::chunk_blocks;
using format::InFlight;

void give_back_of_dead(Pool& pool, BlockRef block, uint64_t inode) {
  const uint64_t owner = pool.record(block).owner.load();
  if (format::record_state(owner) == format::record_used && format::record_inode(owner) == inode)
    give_back(pool, block, 1);
  else
    repair_free_bit(pool, block, no_lane);
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
    if (phase == format::phase_releasing) {
      if (first.index() % chunk_blocks == 0) recover_release(pool, first, lane);
      pool.store(slot.run, 0);
      continue;
    }
    Segment& segment = *pool.segment[first.segment()];
    if (phase == format::phase_freeing) {
      // No process can have taken the blocks: their bits are not set yet.
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
      repair_free_bit(pool, block, lane);
    }
    // The process may have died between storing the bits and flushing them, and a clean detach
    // promises them.
    Chunk& chunk = pool.chunk(first);
    pool.flush(chunk.free, sizeof chunk.free);
    pool.store(slot.run, 0);
  }
}

}  // namespace cairn::pool
