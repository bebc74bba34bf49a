// Cyclic: fills an array that is larger than a stored one by repeating it: element i is stored
// element i modulo the extent, in each dimension.
#pragma once

#include <functional>

#include "base/status.h"
#include "checkpoint/array/section.h"

namespace cairn::checkpoint {

// Calls visit(part) for parts of the stored array that make up `wanted` of the larger one, until it
// fails. An element of a part keeps the place that it has in `wanted`. If both arrays are alike,
// that is one part: `wanted` itself.
Status for_each_tile(const Section& wanted, const Extents& stored,
                     const std::function<Status(const Section& part)>& visit);

}  // namespace cairn::checkpoint
