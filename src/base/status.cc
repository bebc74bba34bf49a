#include "base/status.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace cairn {
namespace {

// Initial-exec: a preloaded library must not make the dynamic linker allocate on first use.
thread_local __attribute__((tls_model("initial-exec"))) char detail[detail_capacity];

}  // namespace

Status fail(int errno_value, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  return Status(errno_value);
}

Status annotate(Status cause, const char* format, ...) {
  char before[detail_capacity];
  std::memcpy(before, detail, sizeof before);
  va_list arguments;
  va_start(arguments, format);
  int used = std::vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  if (used >= 0 && used < detail_capacity) {
    std::snprintf(detail + used, sizeof detail - static_cast<size_t>(used), ": %s", before);
  }
  return cause;
}

const char* last_detail() { return detail; }
void clear_detail() { detail[0] = '\0'; }

}  // namespace cairn
