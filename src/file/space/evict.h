// Evict makes a file that lower also has lazy again: the inverse of staging. It copies no byte and
// frees the file's blocks as truncate does (truncate.h). tier/ chooses the files; this file checks
// that nothing has changed since tier/ looked.
//
// Processes that read or write the file concurrently detect the eviction by the rules in shape.h.
#pragma once

#include <functional>

#include "file/inode/file_system.h"

namespace cairn::file {

// The state of the file when lower was found to have the same bytes.
struct Evictable {
  uint64_t generation = 0;
  uint64_t change_time = 0;  // Inode::drained: at that time lower was the same
  uint64_t size = 0;
  uint64_t lower_units = 0;  // of 512 bytes, that it takes up in lower
};

// Returns EOPNOTSUPP if processes of an earlier version, which do not know evictions, may have the
// pool attached (format::feature_evictions).
Status check_evicts(const Pool& pool);

// Makes the file lazy, all or nothing. It calls `check_place` with the pool's rename lock held,
// which keeps all directories in place, to ask whether lower still has the file at its path. EBUSY:
// the file has changed since `seen`, or is mapped, linked twice, about to move to another node, or
// being written. EAGAIN: another process holds a lock that this needs. EOPNOTSUPP: see
// check_evicts(). It waits for a moment at most. The caller announces nothing, and may hold other
// files' append locks.
Status evict(FileSystem& fs, const Map& map, const Evictable& seen,
             const std::function<Status()>& check_place);

}  // namespace cairn::file
