#include "base/status.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/detail_text.h"
#include "cairn/adapter/printable.h"

namespace cairn {
namespace {

// Initial-exec: a preloaded library must not make the dynamic linker allocate on first use.
thread_local __attribute__((tls_model("initial-exec"))) char last_text[detail_capacity];

// Paths and names of others stand in details. Callers print them.
void make_printable() {
  char text[detail_capacity];
  const size_t length = std::strlen(last_text);
  std::memcpy(text, last_text, length);
  cairn_printable(last_text, sizeof last_text, text, length);
}

}  // namespace

Status fail(int errno_value, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(last_text, sizeof last_text, format, arguments);
  va_end(arguments);
  make_printable();
  forget_long_text();
  return Status(errno_value);
}

Status annotate(Status cause, const char* format, ...) {
  if (cause.ok()) return cause;  // the detail is that of an earlier failure
  char before[detail_capacity];
  std::memcpy(before, last_text, sizeof before);
  va_list arguments;
  va_start(arguments, format);
  int used = std::vsnprintf(last_text, sizeof last_text, format, arguments);
  va_end(arguments);
  if (used >= 0 && used < detail_capacity) {
    std::snprintf(last_text + used, sizeof last_text - static_cast<size_t>(used), ": %s", before);
  }
  make_printable();
  if (has_long_text() && used >= 0) {
    std::string text(static_cast<size_t>(used) + 1, '\0');
    va_start(arguments, format);
    std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    std::string printable(4 * text.size(), '\0');
    printable.resize(
        cairn_printable(printable.data(), printable.size(), text.data(), text.size() - 1));
    keep_long_text(printable + ": " + long_text());
  }
  return cause;
}

const char* last_detail() { return has_long_text() ? long_text().c_str() : last_text; }

void clear_detail() {
  forget_long_text();
  last_text[0] = '\0';
}

}  // namespace cairn
