#include "engine/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "cairn/adapter/printable.h"
#include "engine/hooks.h"

namespace engine {

static Level level_from_environment() {
  const char* name = getenv("CAIRN_LOG");
  if (name == nullptr) name = getenv("CAIRN_LOG_LEVEL");  // the name of the key log.level
  if (name == nullptr) return Level::kWarning;
  if (strcmp(name, "error") == 0) return Level::kError;
  if (strcmp(name, "info") == 0) return Level::kInfo;
  if (strcmp(name, "debug") == 0) return Level::kDebug;
  return Level::kWarning;
}

// Writes by system call, because a stderr that is a covered file must not lead back here.
void log(Level level, const char* text, const char* detail, const char* more) {
  static const Level most = level_from_environment();
  if (level > most) return;
  int before = errno;
  char line[1024];
  char shown[1024];
  snprintf(line, sizeof line, "cairn: %s%s%s", text, detail, more);
  size_t length = cairn_printable(shown, sizeof shown - 1, line, strlen(line));
  shown[length++] = '\n';
  if (syscall(SYS_write, 2, shown, length) < 0) hooks::write_stderr(2, shown, length);
  errno = before;
}

void log_few(const char* text, const char* detail) {
  constexpr int kMost = 16;
  static std::atomic<int> told{0};
  if (told.load(std::memory_order_relaxed) < kMost && told.fetch_add(1) < kMost)
    log(Level::kError, text, detail);
}

}  // namespace engine
