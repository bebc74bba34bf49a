// Restoring: a set whose pool is gone gets its newest whole version back from lower.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/redundancy/lower_set.h"
#include "checkpoint/store/set_file.h"
#include "checkpoint/version/shelf.h"

namespace cairn::checkpoint {

struct Restored {
  int64_t number = 0;
  uint64_t sequence = 0;
  uint64_t bytes = 0;
  uint32_t skipped = 0;  // newer ones that are damaged in lower
  std::string why;       // of the newest of them
};

// The uuid of the set in lower.
Result<Uuid> set_in_lower(const LowerSet& lower);

// Copies the newest version that is whole, and that the newest one of all has not abandoned, into a
// free slot and commits it. All bytes are compared with their checksums on the way. Under the set's
// lock, when the set has no version. ENOENT: lower has none. EUCLEAN: none is whole; the text says
// why. ENOSPC, and the errors of the file system.
Result<Restored> restore_newest(const SetFile& set, Shelf* shelf, const LowerSet& lower);

}  // namespace cairn::checkpoint
