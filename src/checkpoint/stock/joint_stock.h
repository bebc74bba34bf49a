// JointStock: what the pools of all nodes of a run have of the versions of a set. Each node tells
// what it has, and all come to the same catalogue. A part that was prepared and never decided is
// settled by what other nodes say of its version.
#pragma once

#include <optional>

#include "checkpoint/run/run.h"
#include "checkpoint/stock/catalogue.h"

namespace cairn::checkpoint {

// All ranks of all nodes, when a run begins; waits for them. `catalogue` comes with the stock of
// this pool, and has all versions afterwards. Also of a run on one node, which may have parts of
// versions that several nodes wrote.
Status join_stock(Run* run, Shelf* shelf, Catalogue* catalogue);

// The versions that these nodes have together, by ascending sequence. `own`: this node. Pure.
std::vector<KnownVersion> join_versions(const std::vector<NodeStock>& nodes, uint32_t own);
// The node that says that a prepared part of `node` is committed; nothing: none does.
std::optional<uint32_t> find_committed(const std::vector<NodeStock>& nodes, uint32_t node,
                                       const StockedPart& prepared);

}  // namespace cairn::checkpoint
