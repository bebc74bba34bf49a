// Draining by one process of a host: copies the parts that its pool has of a version to a
// directory, for a command or for the only node of a run.
#pragma once

#include <functional>
#include <string>

#include "checkpoint/redundancy/drain_part.h"

namespace cairn::checkpoint {

// The time that a drain waits for another process that copies to the same directory.
inline constexpr uint64_t longest_drain_wait_ns = 60'000'000'000;

struct HereOrder {
  uint64_t sequence = 0;
  std::string directory;
  LowerRetention retention;
  // Copies all parts that the pool has, copies of other hosts' parts included. Otherwise these are
  // copied only if the pool has no part of its own.
  bool takes_copies = false;
  // Looks at the pool; see PartSource::look.
  std::function<Result<PoolSight>(bool again)> look;
};

// Drains a version. Returns the number of parts that other hosts have not copied yet. `catalogue`:
// the one that order.look() renews. Errors as drain_part().
Result<uint32_t> drain_here(const SetFile& set, SlotCache* slot_cache, const Catalogue& catalogue,
                            const HereOrder& order);

}  // namespace cairn::checkpoint
