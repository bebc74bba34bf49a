// Sets of disjoint boxes of one array: taking elements out of them, and making them fewer.
#pragma once

#include <vector>

#include "checkpoint/array/box.h"

namespace cairn::checkpoint {

// Takes the elements of `hole` out. What is left of a box is up to two boxes for each dimension.
void subtract(std::vector<Box>* boxes, const Box& hole);

// Joins boxes that have a whole side in common until there are no such ones. Sides across the last
// dimension come first, so that rows become long.
void join(std::vector<Box>* boxes);

}  // namespace cairn::checkpoint
