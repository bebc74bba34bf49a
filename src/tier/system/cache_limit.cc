#include "tier/system/cache_limit.h"

#include <algorithm>

#include "media/cgroup.h"
#include "tier/system/system.h"

namespace cairn::tier {

int64_t CacheLimit::wrote(int fd, uint64_t bytes) {
  cached_ += bytes;
  if (cached_ < most_) return 0;
  most_ = std::max(media::cgroup_memory().left / share, least);
  if (cached_ < most_) return 0;
  cached_ = 0;
  const int64_t result = sys::fdatasync(fd);
  if (result == 0) sys::drop_cached(fd);
  return result;
}

}  // namespace cairn::tier
