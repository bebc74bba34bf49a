// Draining by one process: copies the parts of a version that its pool has, under the lock of
// lower, and completes the copy if no other part is missing. It sends no message, so a command and
// a thread of the program can use it.
#pragma once

#include <functional>

#include "checkpoint/redundancy/drain_version.h"
#include "checkpoint/redundancy/retire_lower.h"
#include "checkpoint/sources/checked_span.h"
#include "checkpoint/sources/lower_line.h"
#include "checkpoint/versions/catalogue.h"

namespace cairn::checkpoint {

// A drain's view of the pool. The drain looks after it has taken the lock, and again (`again`) each
// time it retakes the lock: the last holder may have copied what a run has written since.
struct PoolSight {
  const Catalogue* catalogue = nullptr;
  UsedSequences used;
};
struct PartSource {
  std::function<Result<PoolSight>(bool again)> look;
  // Opens the parts to copy: at least one.
  std::function<Result<std::vector<DrainedPart>>()> open;
};

struct PartOrder {
  uint64_t sequence = 0;
  LowerRetention retention;
  uint64_t lock_timeout_ns = 0;  // for a lock that another process holds to copy to the directory
  Stop stop = nullptr;
  std::atomic<bool>* is_named = nullptr;  // set once the parts are in lower
};

// Returns the number of parts that other pools have not copied yet. Errors as LowerSet::lock(),
// begin_drain() and copy_aside().
Result<uint32_t> drain_part(const SetFile& set, const PartSource& source, const PartOrder& order,
                            LowerSet* lower);

}  // namespace cairn::checkpoint
