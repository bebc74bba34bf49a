// Sets of disjoint boxes of one array: subtracts boxes and joins neighbours.
#pragma once

#include <vector>

#include "checkpoint/array/box.h"

namespace cairn::checkpoint {

// Removes the elements of `hole`. The rest of a box is up to two boxes for each dimension.
void subtract(std::vector<Box>* boxes, const Box& hole);

// Joins boxes that share a whole side, until no two do. Sides across the last dimension come first,
// so that rows become long.
void join(std::vector<Box>* boxes);

}  // namespace cairn::checkpoint
