#include "persist/core/process_fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace cairn::persist {
namespace {

bool membarrier(int command) {
  const int saved = errno;
  const bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
  errno = saved;
  return done;
}

}  // namespace

bool register_for_process_fence() { return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED); }

bool process_fence() { return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED); }

}  // namespace cairn::persist
