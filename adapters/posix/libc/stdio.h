// Streams on Cairn files: genuine FILE objects made with fopencookie, so that the C library's own
// printf, scanf and getline work on them. What such streams lack is kept here: their descriptor,
// and their orientation (the C library holds them for byte streams; wide calls convert, see
// wide.cc).
#pragma once

#include <stdio.h>
#include <wchar.h>

namespace posix {

struct Stream {
  FILE* file;
  int fd;
  int orientation;  // as fwide: > 0 wide, < 0 bytes, 0 not yet
  mbstate_t read_state, write_state;
  wint_t pushed_back;
  Stream* next;
};

// The stream of ours behind a FILE; nullptr if it is the C library's.
Stream* stream_of(FILE* file);

// A stream on fd with fdopen's mode; nullptr and errno.
FILE* make_stream(int fd, const char* mode);

// Writes what the stream on fd still holds. kBusy: another thread uses it, and perhaps waits in it.
enum class Flushed { kNoStream, kDone, kBusy };
Flushed flush_stream_on(int fd);

namespace streams {
// Releases, in the child of a fork, the list of streams, which another thread of the parent held.
void after_fork();
}  // namespace streams

}  // namespace posix
