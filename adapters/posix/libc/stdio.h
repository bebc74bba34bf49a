// Streams on Cairn files: genuine FILE objects made with fopencookie, so that the C library's own
// printf, scanf and getline work on them. Such streams have no descriptor and no orientation, so
// both are kept here. The C library takes them for byte streams; wide calls convert (wide.cc).
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

// Returns the stream of ours behind a FILE, or null if it is the C library's.
Stream* stream_of(FILE* file);

// Makes a stream on fd with fdopen's mode. Returns null and errno if it fails.
FILE* make_stream(int fd, const char* mode);

// Writes the buffered output of the stream on fd. kBusy: another thread uses the stream, and
// perhaps waits in it.
enum class Flushed { kNoStream, kDone, kBusy };
Flushed flush_stream_on(int fd);

namespace streams {
// Releases, in the child of a fork, the list of streams, which another thread of the parent held.
void after_fork();
}  // namespace streams

}  // namespace posix
