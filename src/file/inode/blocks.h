// Counts the blocks that a file has in the pool.
#pragma once

#include <cstdint>

#include "file/map/map.h"

namespace cairn::file {

// Counts the blocks with data, as st_blocks reports them. A file too large to be counted reports
// its whole size.
uint64_t data_blocks(const Pool& pool, const Map& map, uint64_t size);
// Counts the blocks that the file occupies in the pool: its data and its page table.
uint64_t held_blocks(const Pool& pool, const Map& map, uint64_t size);

}  // namespace cairn::file
