// The limit to the size of files (RLIMIT_FSIZE). The engine must know it, lest the kernel's writes to the pool
// be held to it.
#include <sys/resource.h>

#include "posix/calls.h"
#include "posix/engine.h"
#include "posix/pool.h"

namespace posix {

// Whoever is not attached yet finds it when he attaches.
static long limited(long result) {
  if (result >= 0 && pool != nullptr) cairn_file_size_limit_changed();
  return result;
}

static int limited(int result, int resource, const struct rlimit* limit) {
  if (resource == RLIMIT_FSIZE && limit != nullptr) limited(result);
  return result;
}

namespace serve {

int setrlimit(int resource, const struct rlimit* limit) {
  return limited(real::setrlimit(resource, limit), resource, limit);
}

int prlimit(pid_t process, int resource, const struct rlimit* limit, struct rlimit* old) {
  return limited(real::prlimit(process, resource, limit, old), resource, limit);
}

long ulimit(int command, long size) { return limited(real::ulimit(command, size)); }

}  // namespace serve
}  // namespace posix
