// dprintf: formatted text to a descriptor, without a stream of the program's.
//
// The C library makes a stream for the call and writes by an internal function that this library
// cannot intercept. For a covered file the text is made in memory and written until the file has
// taken all of it.
#include <stdlib.h>

#include "posix/core/calls.h"
#include "posix/fd/table.h"
#include "posix/io/calls.h"
#include "posix/libc/calls.h"

namespace posix {

static bool write_all(int fd, const char* text, size_t size) {
  while (size > 0) {
    ssize_t wrote = serve::write(fd, text, size);
    if (wrote <= 0) return false;
    text += wrote;
    size -= static_cast<size_t>(wrote);
  }
  return true;
}

static int print(int fd, const char* format, va_list arguments) {
  char* text = nullptr;
  int length = vasprintf(&text, format, arguments);
  if (length < 0) return -1;
  bool written = write_all(fd, text, static_cast<size_t>(length));
  free(text);
  return written ? length : -1;
}

namespace serve {

int vdprintf(int fd, const char* format, va_list arguments) {
  if (!table::is_covered(fd)) return real::vdprintf(fd, format, arguments);
  return print(fd, format, arguments);
}

int __vdprintf_chk(int fd, int flag, const char* format, va_list arguments) {
  if (!table::is_covered(fd)) return real::__vdprintf_chk(fd, flag, format, arguments);
  return print(fd, format, arguments);
}

}  // namespace serve

POSIX_EXPORT int posix_export_dprintf(int fd, const char* format, ...) __asm__("dprintf");
int posix_export_dprintf(int fd, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int count = serve::vdprintf(fd, format, arguments);
  va_end(arguments);
  return count;
}

POSIX_EXPORT int posix_export_dprintf_chk(int fd, int flag, const char* format,
                                          ...) __asm__("__dprintf_chk");
int posix_export_dprintf_chk(int fd, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int count = serve::__vdprintf_chk(fd, flag, format, arguments);
  va_end(arguments);
  return count;
}

}  // namespace posix
