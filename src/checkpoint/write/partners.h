// Partners: the nodes that hold the copies of other nodes' parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::checkpoint {

inline constexpr size_t most_domain_bytes = 31;  // PartRecord::failure_domain less its end

// The partners by node. Empty: nodes hold no copies.
struct Partners {
  std::vector<std::string> domains;  // failure domains
  std::vector<uint32_t> holders;     // the node that holds the copy of a node's parts
};

// Returns a partner of another failure domain for each node. While no domain has more than half of
// the nodes, each node holds one copy. Empty: all nodes are in one domain. Pure.
std::vector<uint32_t> find_partners(const std::vector<std::string>& domains);

}  // namespace cairn::checkpoint
