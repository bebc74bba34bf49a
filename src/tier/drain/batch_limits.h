// Limits of a SmallFileBatch, which a plan needs to tell how much room a drain takes.
#pragma once

#include <cstdint>

namespace cairn::tier {

// A batch holds files up to this size each, and their temporary files take no more than so many
// bytes of lower.
inline constexpr uint64_t largest_in_batch = 256 << 10;
inline constexpr uint64_t most_bytes_in_batch = 8 << 20;

}  // namespace cairn::tier
