// Tiling: checks that boxes form a whole array. If they do not, the result names place and ranks.
#pragma once

#include <cstdint>

#include "checkpoint/array/box_table.h"

namespace cairn::checkpoint {

enum class TilingFault : uint8_t {
  none,
  gap,        // no box has the elements `where`
  overlap,    // `first` and `second` both have the elements `where`
  irregular,  // the check would take more time than allowed
};

struct Tiling {
  TilingFault fault = TilingFault::none;
  Box where;
  uint32_t first = 0;  // ranks
  uint32_t second = 0;
};

// Checks boxes that each have elements and fit into the array.
Tiling check_tiling(const BoxTable& boxes, const Extents& extents, bool may_overlap);

}  // namespace cairn::checkpoint
