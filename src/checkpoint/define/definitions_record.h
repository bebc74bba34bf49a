// The definitions of a rank as bytes, for the ranks of its node, how those of a node's ranks become
// one record for the other nodes, and how those of all nodes become the contents of a version.
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

// What a node tells the others: the definitions that its ranks have in common once, and each table
// of boxes once, so that it grows with the node's ranks and not with ranks times variables.
// `records`: one a rank; `numbers`: of these ranks, ascending. EINVAL: they differ, with variable
// and ranks in the text.
Result<std::vector<uint8_t>> join_ranks(const std::vector<std::vector<uint8_t>>& records,
                                        const std::vector<uint32_t>& numbers);

// `records`: one a node, by ascending first rank. EINVAL: they differ between nodes, or boxes do
// not tile, with variable and ranks in the text. EOVERFLOW.
Result<Contents> join_nodes(const std::vector<std::vector<uint8_t>>& records);

}  // namespace cairn::checkpoint
