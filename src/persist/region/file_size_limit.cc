#include "persist/region/file_size_limit.h"

#include <sys/resource.h>

#include <atomic>
#include <cerrno>

namespace cairn::persist {
namespace {

std::atomic<uint64_t> limit{UINT64_MAX};

}  // namespace

void note_file_size_limit() {
  int saved = errno;
  rlimit now = {};
  // RLIM_INFINITY is the largest number.
  if (getrlimit(RLIMIT_FSIZE, &now) == 0) limit.store(now.rlim_cur, std::memory_order_relaxed);
  errno = saved;
}

bool kernel_may_write(uint64_t end) { return end <= limit.load(std::memory_order_relaxed); }

}  // namespace cairn::persist
