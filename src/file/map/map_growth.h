// Map growth: adds the nodes that a file block needs to a map, and blocks to the pool's own tables
// and directories.
#pragma once

#include "file/map/map.h"
#include "pool/space/chunk.h"

namespace cairn::file {

// Makes sure that a level-0 slot (or, with `for_leaf`, a level-1 slot) exists for the file block,
// and moves the cursor there; nodes are published empty. On return another process may have mapped
// the cursor's slot.
Status reach(Pool& pool, LocalSeat& seat, const Map& map, uint64_t file_block, bool for_leaf,
             pool::Need need, MapCursor* cursor);

// Returns the block at `file_block` of a table or a directory; a hole gets a zeroed block first.
Result<BlockRef> block_for(Pool& pool, LocalSeat& seat, const Map& map, uint64_t file_block,
                           pool::Need need);

}  // namespace cairn::file
