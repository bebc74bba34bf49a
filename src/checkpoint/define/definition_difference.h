// How two ranks define one variable differently, as a text for users.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace cairn::checkpoint {

// `first`, `other`: as encode_shared() makes them. EINVAL with that text.
Status differs(std::string_view first, std::string_view other, uint32_t first_rank,
               uint32_t other_rank);

}  // namespace cairn::checkpoint
