#include "posix/libc/install_streams.h"

#include <stdio_ext.h>

#include "posix/core/at_start.h"
#include "posix/core/calls.h"
#include "posix/fd/standard_streams.h"
#include "posix/fd/table.h"
#include "posix/libc/stdio.h"

namespace posix::streams {

// Moves unwritten output to the stream that serves the number now.
static void move_output(FILE* from, FILE* to) {
  size_t pending = __fpending(from);
  if (pending > 0) fwrite(from->_IO_write_base, 1, pending, to);
  if (__fwriting(from) != 0) __fpurge(from);
}

static void copy_buffering(int fd, FILE* from, FILE* to) {
  constexpr int kUnbuffered = 2, kLineBuffered = 0x200;  // libio.h
  if (fd == 2 || (from->_flags & kUnbuffered) != 0) {
    setvbuf(to, nullptr, _IONBF, 0);
  } else if ((from->_flags & kLineBuffered) != 0 && isatty(fd) == 0 && __fbufsize(from) > 0) {
    setvbuf(to, nullptr, _IOLBF, BUFSIZ);
  }
}

// Adopts descriptor 0, 1 or 2, which has just been opened, replaced or closed.
static void follow_number(int fd) {
  int before = errno;
  FILE** name = variable(fd);
  if (table::is_covered(fd)) {
    bool genuine = *name != nullptr && *name != ours[fd] && (*name)->_fileno == fd;
    if (genuine) {
      if (ours[fd] == nullptr) ours[fd] = make_stream(fd, "r+");
      if (ours[fd] != nullptr) {
        theirs[fd] = *name;
        copy_buffering(fd, *name, ours[fd]);
        if (fd != 0) move_output(*name, ours[fd]);
        *name = ours[fd];
      }
    }
  }
  errno = before;
}

// Replaces the C library's streams before any code has seen them. Programs keep the value of
// stdout, as C++'s cout does, and the C library's stream would write to a covered number past this
// library.
AT_START_CODE void install() {
  adopt_step.store(follow_number, std::memory_order_release);
  for (int fd = 0; fd <= 2; ++fd) {
    FILE** name = variable(fd);
    if (*name == nullptr || (*name)->_fileno != fd) continue;
    FILE* stream = make_stream(fd, "r+");
    if (stream == nullptr) continue;
    if (fd == 2) {
      setvbuf(stream, nullptr, _IONBF, 0);
    } else if (real::isatty(fd) != 0) {  // no descriptor is covered yet
      setvbuf(stream, nullptr, _IOLBF, BUFSIZ);
    }
    theirs[fd] = *name;
    ours[fd] = stream;
    *name = stream;
  }
}

}  // namespace posix::streams
