// Evicts files of the pool that need no room there, because lower has the same bytes.
//
// A file may be evicted if it is drained and at home (changes.cc): lower has its bytes, synced and
// readable by this process, at the path by which the pool finds a lazy file (locate.h). It
// has one name, no process has it mapped, and it has not changed since the drain
// (file/space/evict.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "file/inode/file_system.h"

namespace cairn::tier {

// Makes a file lazy again; does nothing if it is. `*blocks`: so many blocks of the pool are freed
// when their readers have finished. EINVAL: not a regular file. EBUSY: it is not drained, or it is
// in use in a way that prevents it (file/space/evict.h). ESTALE: lower has another file by now.
// EAGAIN: another process holds its lock. EOPNOTSUPP: an earlier version created the pool. Other
// errors are those of lower.
Status evict(file::FileSystem& fs, uint64_t inode, uint64_t* blocks);

// Evicts for callers that need room. Each attached pool has one.
class Evictor {
 public:
  explicit Evictor(file::FileSystem& fs) : fs_(fs) {}
  // Implements file::Lower.
  bool evict_some(uint64_t bytes, bool has_drained);

 private:
  // Evicts files until so many blocks are free, or no more files can be evicted. The number of
  // blocks.
  uint64_t evict_oldest(uint64_t blocks);

  file::FileSystem& fs_;
  std::atomic<uint64_t> next_to_evict_{0};  // inode number: where the last search ended
  std::atomic<uint64_t> rest_until_{0};     // ns of the monotonic clock: no search until then
};

}  // namespace cairn::tier
