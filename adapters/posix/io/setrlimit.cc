// Calls that change the limit of file sizes.
#include <sys/resource.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/fd/size_limit.h"
#include "posix/io/calls.h"

namespace posix {

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
