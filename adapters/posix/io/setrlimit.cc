// The limit to the size of files, and the calls that change it.
#include <signal.h>
#include <sys/resource.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/fd/size_limit.h"

namespace posix {
namespace size_limit {

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

}  // namespace size_limit

// A process that is not attached yet reads the limit when it attaches. The engine must know it too,
// so that the limit does not stop the kernel's writes to the pool.
static long limited(long result) {
  if (result >= 0 && pool != nullptr) {
    size_limit::read();
    cairn_file_size_limit_changed();
  }
  return result;
}

BEFORE_SANITIZER static int limited(int result, int resource, const struct rlimit* limit) {
  if (resource == RLIMIT_FSIZE && limit != nullptr) limited(result);
  return result;
}

namespace serve {

BEFORE_SANITIZER int setrlimit(int resource, const struct rlimit* limit) {
  return limited(real::setrlimit(resource, limit), resource, limit);
}

int prlimit(pid_t process, int resource, const struct rlimit* limit, struct rlimit* old) {
  return limited(real::prlimit(process, resource, limit, old), resource, limit);
}

long ulimit(int command, long size) { return limited(real::ulimit(command, size)); }

}  // namespace serve
}  // namespace posix
