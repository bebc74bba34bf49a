// Restoring by the nodes of a run, or by its only one: fetches the parts that none of their pools
// has from lower, distributed over the nodes.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/run/run.h"
#include "checkpoint/versions/catalogue.h"
#include "checkpoint/versions/skipped.h"
#include "checkpoint/versions/slot_cache.h"

namespace cairn::checkpoint {

struct RestoredOnNodes {
  uint64_t sequence = 0;    // of the version that was restored; 0: none was
  SkippedVersions skipped;  // newer ones that are damaged in lower, and why this one was lost
};

// Restores a version. Called by all ranks of all nodes, after they have merged their inventories
// and before a version is written; waits for them. Afterwards the pools have all parts of the
// newest version that wanted_of() names and that is whole, and the caller reads the manifests
// again. An error of one node is an error of all: ENOSPC, and those of the file system.
Result<RestoredOnNodes> restore_on_nodes(Run* run, SlotCache* slot_cache,
                                         const Catalogue& catalogue, const std::string& directory);

}  // namespace cairn::checkpoint
