// Counts the blocks that a file has in the pool.
#pragma once

#include <cstdint>

#include "file/map/map.h"

namespace cairn::file {

// Blocks with data, as st_blocks tells them. In files that are larger than the count looks into,
// all of the size counts as such.
uint64_t data_blocks(const Pool& pool, const Map& map, uint64_t size);
// What the file takes in the pool: its data and its page table.
uint64_t held_blocks(const Pool& pool, const Map& map, uint64_t size);

}  // namespace cairn::file
