// Partners pairs each rank with a rank of the next node, for reads between nodes.
#pragma once

#include <cstdint>

namespace kernels {

struct Partners {
  int source = 0;             // this rank reads what that one has
  int reader = 0;             // that one reads what this rank has
  int64_t between_nodes = 0;  // pairs whose ranks are on different nodes
};

// Sorts the ranks by node. A rank's partner is as many ranks further on as the fullest node has
// ranks; on one node it is the next rank. Collective.
Partners partners_of_next_node();

}  // namespace kernels
