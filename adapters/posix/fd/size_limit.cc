#include "posix/fd/size_limit.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

namespace posix::size_limit {

std::atomic<uint64_t> bytes{UINT64_MAX};

void read() {
  struct rlimit now;
  // RLIM_INFINITY is the largest number.
  if (::getrlimit(RLIMIT_FSIZE, &now) == 0) bytes.store(now.rlim_cur, std::memory_order_relaxed);
}

static int exceeded(Signal signal) {
  if (signal == Signal::yes) raise(SIGXFSZ);
  return -EFBIG;
}

ssize_t allowed(uint64_t offset, size_t size, Signal signal) {
  const uint64_t limit = bytes.load(std::memory_order_relaxed);
  if (size == 0) return 0;
  if (offset >= limit) return exceeded(signal);
  return static_cast<ssize_t>(size < limit - offset ? size : limit - offset);
}

int check_size(uint64_t before, uint64_t after) {
  return after > before && after > bytes.load(std::memory_order_relaxed) ? exceeded(Signal::yes)
                                                                         : 0;
}

int check_size(cairn_file* file, uint64_t after) {
  cairn_stat st;
  if (!is_set() || cairn_fstat(file, &st) < 0) return 0;
  return check_size(st.size, after);
}

}  // namespace posix::size_limit
