// Residency says where the bytes of one file of a cover lie.
#pragma once

#include <cstdint>

#include "tier/cover/covered_name.h"
#include "tier/cover/drain.h"

namespace cairn::tier {

struct Residency {
  bool is_drained = false;   // lower has its bytes under this name
  uint64_t size = 0;         // of the file
  uint64_t pool_bytes = 0;   // room that it takes in the pool
  uint64_t lower_bytes = 0;  // that lie in lower only
  uint64_t undrained_bytes = 0;
};

Result<Residency> residency_of(const Cover& cover, const CoveredName& name);

// EPERM: the file is not drained at all.
Status check_is_drained(const Cover& cover, const CoveredName& name, const char* path);

// Does lower have the file under this name? If a drain has not finished a directory above it
// (format::unit_is_new), this looks in lower; if it has, the pool knows.
Result<bool> is_in_lower(const Cover& cover, const CoveredName& name);

// The mode in force for a file, or for files below a directory; `inherit`: that of the run.
DrainMode mode_of(const Cover& cover, const CoveredName& name);

// Drains this file and the directories above it, unless they are drained already. EBUSY: the file
// has several names, or it does not count as drained afterwards. EPERM: its mode is `never`.
Status drain_one(Cover& cover, const CoveredName& name, const char* path, DrainCalls calls,
                 DrainReport* report);

}  // namespace cairn::tier
