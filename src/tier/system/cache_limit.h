// Bounds the page cache of a file that is being written in lower, where a cgroup limits memory.
//
// Such pages count against the limit. Until they are on disk they cannot be dropped, and the kernel
// kills a process instead.
#pragma once

#include <cstdint>

namespace cairn::tier {

class CacheLimit {
 public:
  // Called after each write. Once the file has an eighth of what the limit leaves in the page
  // cache, and at least 4 MiB, makes it durable and drops it from there. 0 or -errno.
  int64_t wrote(int fd, uint64_t bytes);

 private:
  static constexpr uint64_t least = 4 << 20;
  static constexpr uint64_t share = 8;
  uint64_t cached_ = 0;    // bytes, since the last time
  uint64_t most_ = least;  // until the limit is looked at again
};

}  // namespace cairn::tier
