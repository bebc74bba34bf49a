#include "posix/path/result.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <atomic>

#include "posix/core/engine.h"
#include "posix/credentials/pool_owner.h"
#include "posix/fd/fd_path.h"
#include "posix/fd/table.h"

namespace posix {

int refuse(const char* call, const char* path, int error) {
  // Calls are string literals of ours, so their addresses tell them apart.
  static std::atomic<const char*> said[64];
  for (auto& slot : said) {
    const char* seen = slot.load(std::memory_order_relaxed);
    if (seen == call) break;
    if (seen == nullptr && slot.compare_exchange_strong(seen, call)) {
      log(Level::kError, call, " is not served on covered files: ", path != nullptr ? path : "");
      break;
    }
  }
  errno = error;
  return -1;
}

int refuse_descriptor(const char* call, int fd, int error) {
  char path[PATH_MAX] = "";
  table::Use use(fd);
  if (use && fd_path::path_of(use.get(), path, sizeof path) < 0) path[0] = '\0';
  return refuse(call, path, error);
}

int fail(long negative_errno) {
  // No program expects this error of its call, or would report the reason.
  if (negative_errno == -EBUSY && strstr(cairn_last_error(), "no free lane") != nullptr) {
    if (pool_owner::used_up) {
      log_few("covered files cannot be reached: this process, or one that it descends from, ",
              "has given up the pool's user, and what was opened before is used up");
      negative_errno = -EIO;
    } else {
      log_few("covered files cannot be reached: ", cairn_last_error());
    }
  }
  errno = static_cast<int>(-negative_errno);
  return -1;
}

}  // namespace posix
