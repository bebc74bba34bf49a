// The definitions of a rank as bytes, for the ranks of its node, and how those of all ranks become
// the contents of a version.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/layout/contents.h"
#include "checkpoint/version/definitions.h"

namespace cairn::checkpoint {

struct LayoutChoice {
  uint32_t ranks = 1;
  uint8_t block_shift = 20;
};

std::vector<uint8_t> encode_definitions(const Definitions& definitions, const LayoutChoice& choice);

// `records`: one a rank. EINVAL: they differ between ranks or do not tile, with variable and ranks
// in the text. EOVERFLOW.
Result<Contents> join_definitions(const std::vector<std::vector<uint8_t>>& records);

}  // namespace cairn::checkpoint
