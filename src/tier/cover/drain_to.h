// Writes the files that a pool holds of a cover to another directory, because the covered one is
// gone.
//
// Nothing in the other directory is replaced: a name that it has counts as done if the file is the
// same as the pool's, and is a conflict otherwise. So an interrupted drain can be repeated. Only
// files whose bytes the pool holds can be written. Files that were only read are reported by name,
// and so are parts of files that several nodes wrote: their records lay in the covered directory.
//
// The other directory may be the covered one, at the path to which it was moved: then it is drained
// as usual.
#pragma once

#include <string>

#include "tier/cover/cover.h"
#include "tier/cover/drain.h"

namespace cairn::tier {

struct DrainToReport {
  std::string path;         // the real one of the other directory
  bool is_covered = false;  // it is the covered directory
  bool is_lost =
      false;  // the cover's path leads to no directory, or to another one than the covered one
  DrainReport drained;
  uint64_t missing = 0;        // files and directories that the pool does not hold
  uint64_t missing_parts = 0;  // of files that several nodes wrote
};

// Looks at the other directory. If it is the covered one, this process uses its path for the cover
// from now on. ELOOP: it is covered itself, or lies in a pool.
Status find_elsewhere(Cover& cover, const std::string& elsewhere, DrainToReport* report);
// Drains to `report->path`. `calls.problem` is also called for files that cannot be written. EBUSY:
// other processes use the cover. EIO: a name failed or is in conflict. ENOSPC, ECANCELED.
Status drain_to(Cover& cover, const DrainCalls& calls, DrainToReport* report);

}  // namespace cairn::tier
