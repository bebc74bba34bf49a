// Evict turns a file that is the same in lower back into a lazy one: the inverse of staging. No
// byte is copied; its blocks are freed as those of a truncated file are (truncate.h). tier/ chooses
// the files; this part makes sure that nothing has changed since tier/ looked.
//
// Processes that read or write the file concurrently notice by the rules in shape.h.
#pragma once

#include <functional>

#include "file/inode/file_system.h"

namespace cairn::file {

// The file as it was when lower was found to have the same.
struct Evictable {
  uint64_t generation = 0;
  uint64_t change_time = 0;  // Inode::drained: at that time lower was the same
  uint64_t size = 0;
  uint64_t lower_units = 0;  // of 512 bytes, that it takes up in lower
};

// EOPNOTSUPP: processes of an earlier version, which do not know evictions, may have the pool
// attached (format::feature_evictions).
Status check_evicts(const Pool& pool);

// Makes the file lazy, all or nothing. `check_place` is called with the pool's rename lock held, by
// which all directories stay where they are, and says whether lower still has the file at its path.
// EBUSY: the file has changed since `seen`, or is mapped, linked twice, about to be another node's,
// or written to right now. EAGAIN: another process holds a lock that this needs. EOPNOTSUPP: see
// above. It waits for a moment at most; the caller announces nothing, and may hold other files'
// append locks.
Status evict(FileSystem& fs, const Map& map, const Evictable& seen,
             const std::function<Status()>& check_place);

}  // namespace cairn::file
