// DefinitionDifference: describes for users how two ranks define one variable differently.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "checkpoint/array/box.h"

namespace cairn::checkpoint {

// Returns EINVAL with that text. `first`, `other`: from encode_shared().
Status differs(std::string_view first, std::string_view other, uint32_t first_rank,
               uint32_t other_rank);
// Returns "4 x 5", or "a scalar".
std::string shown_counts(unsigned dimensions, const Extents& counts);

}  // namespace cairn::checkpoint
