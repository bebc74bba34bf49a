#include "posix/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <atomic>

#include "posix/calls.h"
#include "posix/engine.h"
#include "posix/pool_owner.h"

namespace posix {

static Level level_from_environment() {
  const char* name = getenv("CAIRN_LOG");
  if (name == nullptr) name = getenv("CAIRN_LOG_LEVEL");  // the name of the key log.level
  if (name == nullptr) return Level::kWarning;
  if (strcmp(name, "error") == 0) return Level::kError;
  if (strcmp(name, "info") == 0) return Level::kInfo;
  if (strcmp(name, "debug") == 0) return Level::kDebug;
  return Level::kWarning;
}

// By system call: a stderr that is a covered file must not lead back to us.
void log(Level level, const char* text, const char* detail, const char* more) {
  static const Level most = level_from_environment();
  if (level > most) return;
  int before = errno;
  char line[1024];
  int length = snprintf(line, sizeof line, "cairn: %s%s%s\n", text, detail, more);
  if (length > static_cast<int>(sizeof line) - 1) length = sizeof line - 1;
  line[length - 1] = '\n';
  if (syscall(SYS_write, 2, line, length) < 0) serve::write(2, line, static_cast<size_t>(length));
  errno = before;
}

void log_few(const char* text, const char* detail) {
  constexpr int kMost = 16;
  static std::atomic<int> told{0};
  if (told.load(std::memory_order_relaxed) < kMost && told.fetch_add(1) < kMost)
    log(Level::kError, text, detail);
}

int refuse(const char* call, const char* path, int error) {
  // Names are string literals of ours: their addresses tell them apart.
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

int fail(long negative_errno) {
  // What no program expects of the call that it made, and of which it would not tell the reason.
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
