// DefinitionDifference: describes for users how two ranks define one variable differently.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace cairn::checkpoint {

// Returns EINVAL with that text. `first`, `other`: from encode_shared().
Status differs(std::string_view first, std::string_view other, uint32_t first_rank,
               uint32_t other_rank);

}  // namespace cairn::checkpoint
