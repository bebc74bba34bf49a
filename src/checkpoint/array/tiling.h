// Tiling: do boxes make up a whole array? Where they do not, a message can name place and ranks.
#pragma once

#include <cstdint>

#include "checkpoint/array/box_table.h"

namespace cairn::checkpoint {

enum class TilingFault : uint8_t {
  none,
  gap,        // no box has the elements `where`
  overlap,    // `first` and `second` both have the elements `where`
  irregular,  // this takes more time than a check may
};

struct Tiling {
  TilingFault fault = TilingFault::none;
  Box where;
  uint32_t first = 0;  // ranks
  uint32_t second = 0;
};

// Each box has elements and fits into the array.
Tiling check_tiling(const BoxTable& boxes, const Extents& extents, bool may_overlap);

}  // namespace cairn::checkpoint
