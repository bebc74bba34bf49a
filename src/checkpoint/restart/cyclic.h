// Cyclic: an array that is larger than a stored one is made of it again and again: element i is
// stored element i modulo the extent, in each dimension.
#pragma once

#include <functional>

#include "base/status.h"
#include "checkpoint/array/box.h"

namespace cairn::checkpoint {

// Calls visit(part, origin) for parts of the stored array that make up `wanted` of the larger one,
// until it fails. `first`: the first element of the program's array in the larger one; an element
// of `part` stands as far from it as from `origin` of the stored array, which may be negative
// (modulo 2^64). Where both arrays are alike, that is one part: `wanted` itself.
Status for_each_tile(const Box& wanted, const Extents& stored, const Extents& first,
                     const std::function<Status(const Box& part, const Extents& origin)>& visit);

}  // namespace cairn::checkpoint
