// Definitions record: encodes the definitions of a rank, joins those of a node's ranks into one
// record for the other nodes, and makes the contents of a version from the records of all nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/define/definitions.h"
#include "checkpoint/layout/contents.h"

namespace cairn::checkpoint {

struct LayoutChoice {
  uint32_t ranks = 1;
  uint8_t block_shift = 20;
};

std::vector<uint8_t> encode_definitions(const Definitions& definitions, const LayoutChoice& choice);

// Makes a node's record for the others: the common definitions of its ranks once, and each table of
// boxes once. The record grows with the node's ranks, not with ranks times variables. `records`:
// one per rank; `numbers`: of these ranks, ascending. EINVAL: they differ; the text has variable
// and ranks.
Result<std::vector<uint8_t>> join_ranks(const std::vector<std::vector<uint8_t>>& records,
                                        const std::vector<uint32_t>& numbers);

// Makes the contents. `records`: one per node, by ascending first rank. EINVAL: they differ between
// nodes, or boxes do not tile; the text has variable and ranks. EOVERFLOW.
Result<Contents> join_nodes(const std::vector<std::vector<uint8_t>>& records);

}  // namespace cairn::checkpoint
