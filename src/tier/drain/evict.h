// Evicts files of the pool that need no room there, because lower has the same bytes.
//
// A file may be evicted if it is drained and at home (changes.cc): lower has its bytes, synced and
// readable by this process, at the path by which the pool finds a lazy file (LowerTree::locate). It
// has one name, no process has it mapped, and it has not changed since the drain
// (file/space/evict.h).
#pragma once

#include <cstdint>

#include "file/inode/file_system.h"

namespace cairn::tier {

// Makes a file lazy again; does nothing if it is. `*blocks`: so many blocks of the pool are freed
// when their readers have finished. EINVAL: not a regular file. EBUSY: it is not drained, or it is
// in use in a way that prevents it (file/space/evict.h). ESTALE: lower has another file by now.
// EAGAIN: another process holds its lock. EOPNOTSUPP: an earlier version created the pool. Other
// errors are those of lower.
Status evict(file::FileSystem& fs, uint64_t inode, uint64_t* blocks);
// Copies a lazy file into the pool; does nothing if it is there. Fails as a write to it does.
Status stage(file::FileSystem& fs, uint64_t inode);

}  // namespace cairn::tier
