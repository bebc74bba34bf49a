// Writes to another directory what a pool keeps of a cover, for a covered directory that is gone.
//
// The other directory may hold something already. Nothing there is replaced: a name that it has
// already counts as done if it is the same as the pool's, and is a conflict otherwise. So an
// interrupted drain can be repeated. Only what the pool holds can come. Files that were only read
// through are told by name, and so are parts of files that several nodes wrote: their records lay
// in the covered directory.
//
// The covered directory itself may be given, by the path that it has been moved to: then it is
// drained as ever.
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

// Looks at the other directory. If it is the covered one, the cover has its path from now on, in
// this process. ELOOP: it is covered itself, or lies in a pool.
Status find_elsewhere(Cover& cover, const std::string& elsewhere, DrainToReport* report);
// To `report->path`. `calls.problem` is told what cannot come, too. EBUSY while other processes are
// in the cover; EIO if something failed or is in conflict, ENOSPC, ECANCELED.
Status drain_to(Cover& cover, const DrainCalls& calls, DrainToReport* report);

}  // namespace cairn::tier
