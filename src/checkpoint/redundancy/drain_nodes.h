// Draining by the nodes of a run: each leader copies the parts that its pool has, and one of them
// writes the record when all parts are there.
#pragma once

#include <string>

#include "checkpoint/redundancy/retire_lower.h"
#include "checkpoint/run/run.h"
#include "checkpoint/sources/lower_line.h"
#include "checkpoint/versions/catalogue.h"
#include "checkpoint/versions/slot_cache.h"

namespace cairn::checkpoint {

struct DrainOrder {
  std::string directory;
  LowerRetention retention;
  UsedSequences used;            // by the run
  uint64_t lock_timeout_ns = 0;  // for a lock that another process holds to copy to the directory
};

// Drains a version. Called by all leaders, for the same version, while no version is being decided;
// waits for them. The node that has the first part holds the lock of lower meanwhile. An error of
// one node is an error of all, named in the texts of the others; the version then has no record.
// Errors as begin_drain() and copy_aside(); EHOSTDOWN: no node has a part of it.
Status drain_on_nodes(const Run& run, SlotCache* slot_cache, const Catalogue& catalogue,
                      const KnownVersion& known, const DrainOrder& order);

}  // namespace cairn::checkpoint
