#include "format/layout.h"

namespace cairn::format {

SegmentLayout layout_of(uint64_t blocks, uint32_t lanes) {
  SegmentLayout layout;
  layout.blocks = blocks;
  layout.chunk_table = lanes == 0 ? block_size : lanes_block * block_size + lanes * lane_size;
  // The tables cover the segment's blocks before the data too: a few unused slots keep the address
  // arithmetic to one shift.
  const uint64_t chunks = blocks / chunk_blocks;
  layout.records =
      layout.chunk_table + (chunks * sizeof(Chunk) + block_size - 1) / block_size * block_size;
  const uint64_t end = layout.records + blocks * sizeof(BlockRecord);
  layout.data_start = (end + chunk_size - 1) / chunk_size * chunk_blocks;
  layout.chunks = chunks;
  return layout;
}

}  // namespace cairn::format
