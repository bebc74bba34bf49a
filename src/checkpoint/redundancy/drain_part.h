// Draining by one process: it copies the parts of a version that its pool has, under the lock of
// lower, and completes the copy if no other part is missing. It sends no message, so a command does
// it, and a thread beside the program.
#pragma once

#include <functional>

#include "checkpoint/redundancy/drain_version.h"
#include "checkpoint/redundancy/retire_lower.h"
#include "checkpoint/sources/checked_span.h"
#include "checkpoint/sources/lower_line.h"
#include "checkpoint/stock/catalogue.h"

namespace cairn::checkpoint {

// What a drain knows of the pool. It looks after it has taken the lock, and once more each time it
// takes it `again`: the last holder may have copied what a run has written since.
struct PoolSight {
  const Catalogue* catalogue = nullptr;
  UsedSequences used;
};
struct PartSource {
  std::function<Result<PoolSight>(bool again)> look;
  // The parts to copy: at least one.
  std::function<Result<std::vector<DrainedPart>>()> open;
};

struct PartOrder {
  uint64_t sequence = 0;
  LowerRetention retention;
  uint64_t lock_timeout_ns = 0;  // for another process that copies to the directory
  Stop stop = nullptr;
  std::atomic<bool>* is_named = nullptr;  // set once the parts are in lower
};

// The number of parts that other pools have not copied yet. As LowerSet::lock(), begin_drain() and
// copy_aside().
Result<uint32_t> drain_part(const SetFile& set, const PartSource& source, const PartOrder& order,
                            LowerSet* lower);

}  // namespace cairn::checkpoint
