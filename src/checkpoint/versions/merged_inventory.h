// Merges what the pools of all nodes of a run have of a set's versions. Each node
// sends what it has, and all compute the same catalogue. If a part was prepared and never decided,
// what other nodes have of its version decides it.
#pragma once

#include <optional>

#include "checkpoint/run/run.h"
#include "checkpoint/versions/catalogue.h"

namespace cairn::checkpoint {

// Merges the inventories when a run begins. Called by all ranks of all nodes; waits for them.
// `catalogue` has the inventory of this pool, and all versions afterwards. A run on one node calls
// it too, because it may have parts of versions that several nodes wrote.
Status merge_inventories(Run* run, SlotCache* slot_cache, Catalogue* catalogue);

// Returns the versions that these nodes have together, by ascending sequence. `own`: this node.
// Pure.
std::vector<KnownVersion> join_versions(const std::vector<NodeInventory>& nodes, uint32_t own);
// Returns the node that says that a prepared part of `node` is committed; no value if none does.
std::optional<uint32_t> find_committed(const std::vector<NodeInventory>& nodes, uint32_t node,
                                       const InventoryPart& prepared);

}  // namespace cairn::checkpoint
