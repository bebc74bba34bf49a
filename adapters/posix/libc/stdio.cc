#include "posix/libc/stdio.h"

#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/at_start.h"
#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/fd/standard_streams.h"
#include "posix/fd/table.h"
#include "posix/io/calls.h"
#include "posix/libc/calls.h"
#include "posix/libc/freopen.h"
#include "posix/names/calls.h"
#include "posix/path/covered.h"

namespace posix {

constexpr int kCookieFileno = -2;  // glibc's number for streams of fopencookie

AT_START_DATA static pthread_mutex_t streams_mutex = PTHREAD_MUTEX_INITIALIZER;
AT_START_DATA static Stream* buckets[64];

void streams::after_fork() { pthread_mutex_init(&streams_mutex, nullptr); }

static Stream** bucket_of(FILE* file) {
  return &buckets[(reinterpret_cast<uintptr_t>(file) >> 5) % 64];
}

Stream* stream_of(FILE* file) {
  if (file == nullptr || file->_fileno != kCookieFileno) return nullptr;
  pthread_mutex_lock(&streams_mutex);
  Stream* stream = *bucket_of(file);
  while (stream != nullptr && stream->file != file) stream = stream->next;
  pthread_mutex_unlock(&streams_mutex);
  return stream;
}

static void enter(Stream* stream) {
  pthread_mutex_lock(&streams_mutex);
  Stream** bucket = bucket_of(stream->file);
  stream->next = *bucket;
  *bucket = stream;
  pthread_mutex_unlock(&streams_mutex);
}

static void leave(Stream* stream) {
  pthread_mutex_lock(&streams_mutex);
  Stream** link = bucket_of(stream->file);
  while (*link != nullptr && *link != stream) link = &(*link)->next;
  if (*link != nullptr) *link = stream->next;
  pthread_mutex_unlock(&streams_mutex);
}

static Stream* find_stream_on(int fd) {
  for (Stream* stream : buckets)
    for (; stream != nullptr; stream = stream->next)
      if (stream->fd == fd) return stream;
  return nullptr;
}

// A thread that closes a stream holds its lock when the stream is removed here, so no locked stream
// is freed. A write may be a message to another node. So streams_mutex, which any call on a stream
// may take, is not held during the write.
Flushed flush_stream_on(int fd) {
  pthread_mutex_lock(&streams_mutex);
  Stream* stream = find_stream_on(fd);
  FILE* const file = stream == nullptr ? nullptr : stream->file;
  const bool locked = file != nullptr && ftrylockfile(file) == 0;
  pthread_mutex_unlock(&streams_mutex);
  if (file == nullptr) return Flushed::kNoStream;
  if (!locked) return Flushed::kBusy;
  if (__fpending(file) > 0) fflush_unlocked(file);
  funlockfile(file);
  return Flushed::kDone;
}

// ---- functions that fopencookie calls ----

static ssize_t read_stream(void* cookie, char* buffer, size_t size) {
  return serve::read(static_cast<Stream*>(cookie)->fd, buffer, size);
}

static ssize_t write_stream(void* cookie, const char* buffer, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t wrote = serve::write(static_cast<Stream*>(cookie)->fd, buffer + done, size - done);
    if (wrote < 0 && errno == EINTR && done == 0) return 0;
    if (wrote <= 0) break;
    done += static_cast<size_t>(wrote);
  }
  return static_cast<ssize_t>(done);
}

static int seek_stream(void* cookie, off64_t* offset, int whence) {
  off_t at = serve::lseek(static_cast<Stream*>(cookie)->fd, *offset, whence);
  if (at < 0) return -1;
  *offset = at;
  return 0;
}

static int close_stream(void* cookie) {
  auto* stream = static_cast<Stream*>(cookie);
  if (stream == nullptr) return 0;  // another stream has it (freopen.h)
  int fd = stream->fd;
  leave(stream);
  streams::forget(stream->file);
  free(stream);
  return serve::close(fd);
}

// Returns the open flags for fopen's mode, or -1 for an invalid mode.
static int flags_of(const char* mode) {
  int flags;
  switch (mode[0]) {
    case 'r':
      flags = O_RDONLY;
      break;
    case 'w':
      flags = O_WRONLY | O_CREAT | O_TRUNC;
      break;
    case 'a':
      flags = O_WRONLY | O_CREAT | O_APPEND;
      break;
    default:
      return -1;
  }
  for (const char* c = mode + 1; *c != '\0' && *c != ','; ++c) {
    if (*c == '+') flags = (flags & ~O_ACCMODE) | O_RDWR;
    if (*c == 'x') flags |= O_EXCL;
    if (*c == 'e') flags |= O_CLOEXEC;
  }
  return flags;
}

// Makes a stream without entering it.
AT_START_CODE static Stream* make_cookie(int fd, const char* mode) {
  auto* stream = static_cast<Stream*>(calloc(1, sizeof(Stream)));
  if (stream == nullptr) return nullptr;
  stream->fd = fd;
  stream->pushed_back = WEOF;
  char plain[3] = {mode[0], strchr(mode, '+') != nullptr ? '+' : '\0', '\0'};
  stream->file = fopencookie(stream, plain, {read_stream, write_stream, seek_stream, close_stream});
  if (stream->file != nullptr) return stream;
  free(stream);
  return nullptr;
}

AT_START_CODE FILE* make_stream(int fd, const char* mode) {
  Stream* stream = make_cookie(fd, mode);
  if (stream == nullptr) return nullptr;
  enter(stream);
  return stream->file;
}

static FILE* open_stream(const char* path, const char* mode) {
  int flags = flags_of(mode);
  if (flags < 0) {
    errno = EINVAL;
    return nullptr;
  }
  int fd = serve::open(path, flags, 0666);
  if (fd < 0) return nullptr;
  FILE* file = table::is_covered(fd) ? make_stream(fd, mode) : real::fdopen(fd, mode);
  if (file == nullptr) {
    serve::close(fd);
  } else if (mode[0] == 'a' && strchr(mode, '+') == nullptr && stream_of(file) != nullptr) {
    serve::lseek(fd, 0, SEEK_END);
  }
  return file;
}

// Moves `fd` to the number that a stream has, or had.
static int put_under(int fd, int number, int flags) {
  if (number < 0 || fd == number) return fd;
  int landed = serve::dup3(fd, number, flags & O_CLOEXEC);
  serve::close(fd);
  return landed;
}

// Gives a stream the file `fd`, under the number it had.
static FILE* replace_file(FILE* file, Stream* stream, int fd, int flags) {
  int number = put_under(fd, stream != nullptr ? stream->fd : file->_fileno, flags);
  if (number < 0) return nullptr;
  if (stream == nullptr) return streams::current(number, file);
  stream->fd = number;
  // fopencookie fixes the mode of a stream; these flags are its result (libio.h).
  constexpr int kNoReads = 4, kNoWrites = 8, kAppending = 0x1000;
  file->_flags &= ~(kNoReads | kNoWrites | kAppending);
  if ((flags & O_ACCMODE) == O_RDONLY) file->_flags |= kNoWrites;
  if ((flags & O_ACCMODE) == O_WRONLY) file->_flags |= kNoReads;
  if ((flags & O_APPEND) != 0) file->_flags |= kAppending;
  stream->orientation = 0;
  stream->pushed_back = WEOF;
  return streams::current(number, file);
}

// Turns a stream of the C library's into one of ours, on `fd` under the number it had.
static FILE* turn_stream(FILE* file, int fd, const char* mode, int flags) {
  int before = errno;
  // The C library frees the buffers and conversions of the old file. The number stays.
  Stream* stream =
      real::freopen("/dev/null", "r+", file) != nullptr ? make_cookie(-1, mode) : nullptr;
  int number = stream != nullptr ? put_under(fd, real::fileno(file), flags) : -1;
  if (stream == nullptr) serve::close(fd);
  if (number < 0) {
    if (stream != nullptr) real::fclose(stream->file);
    return nullptr;
  }
  FILE* donor = stream->file;
  streams::turn(file, donor, stream);
  stream->file = file;
  stream->fd = number;
  enter(stream);
  real::fclose(donor);
  errno = before;
  return file;
}

// Handles a failed freopen: the stream is closed, and can still be closed or reopened.
static FILE* reopen_failed(FILE* file, Stream* stream) {
  int error = errno;
  if (stream != nullptr) {
    serve::close(stream->fd);
    stream->fd = -1;
  } else {
    int fd = real::fileno(file);
    if (fd >= 0) table::leave(fd);
    real::freopen("", "r", file);
  }
  errno = error;
  return nullptr;
}

namespace serve {

FILE* fopen(const char* path, const char* mode) {
  return outside(path) ? real::fopen(path, mode) : open_stream(path, mode);
}

FILE* setmntent(const char* path, const char* mode) {
  if (outside(path)) return real::setmntent(path, mode);
  char closed_on_exec[16];
  snprintf(closed_on_exec, sizeof closed_on_exec, "%.14se", mode);
  FILE* file = open_stream(path, closed_on_exec);
  if (file != nullptr) __fsetlocking(file, FSETLOCKING_BYCALLER);
  return file;
}

FILE* fdopen(int fd, const char* mode) {
  table::Use use(fd);
  if (!use) return real::fdopen(fd, mode);
  int flags = flags_of(mode);
  int access = cairn_file_get_flags(use->file);
  bool fits = (access & O_ACCMODE) == O_RDWR || (access & O_ACCMODE) == (flags & O_ACCMODE);
  if (flags < 0 || !fits || (access & O_PATH) != 0) {
    errno = (access & O_PATH) != 0 ? EBADF : EINVAL;
    return nullptr;
  }
  if ((flags & O_APPEND) != 0 && (access & O_APPEND) == 0)
    cairn_file_set_flags(use->file, access | O_APPEND);
  return make_stream(fd, mode);
}

FILE* freopen(const char* path, const char* mode, FILE* file) {
  if (!active()) return real::freopen(path, mode, file);
  Stream* stream = stream_of(file);
  if (stream == nullptr && (path == nullptr || outside(path)))
    return real::freopen(path, mode, file);
  int flags = flags_of(mode);
  if (flags < 0) {
    errno = EINVAL;
    return nullptr;
  }
  fflush(file);
  char again[64];
  if (path == nullptr) {
    snprintf(again, sizeof again, "/proc/self/fd/%d", stream->fd);
    path = again;
  }
  int fd = serve::open(path, flags, 0666);
  __fpurge(file);
  clearerr(file);
  if (fd < 0) return reopen_failed(file, stream);
  if ((flags & O_APPEND) != 0) serve::lseek(fd, 0, SEEK_END);
  int number = stream != nullptr ? stream->fd : file->_fileno;
  if (stream == nullptr && (number < 0 || number > 2 || !streams::is_standard(number, file))) {
    if (!table::is_covered(fd)) {
      serve::close(fd);
      return real::freopen(path, mode, file);
    }
    if (streams::can_turn(file)) return turn_stream(file, fd, mode, flags);
    // Programs do not reopen streams of popen or open_memstream, and these lack the space to be
    // turned.
    real::fclose(file);
    FILE* made = make_stream(fd, mode);
    if (made == nullptr) serve::close(fd);
    return made;
  }
  return replace_file(file, stream, fd, flags);
}

int fclose(FILE* file) {
  // The stream is the C library's, on an ancestor, or on a number that the table still has.
  if (file != nullptr && stream_of(file) == nullptr && active()) {
    int fd = real::fileno(file);
    if (fd >= 0 && !table::is_covered(fd)) table::leave(fd);
  }
  return real::fclose(file);
}

int fileno(FILE* file) {
  Stream* stream = stream_of(file);
  return stream != nullptr ? stream->fd : real::fileno(file);
}

FILE* tmpfile() {
  char name[] = P_tmpdir "/cairnXXXXXX";
  if (outside(name)) return real::tmpfile();
  int fd = serve::mkostemps(name, 0, O_CLOEXEC);
  if (fd < 0) return nullptr;
  serve::unlink(name);
  FILE* file = make_stream(fd, "w+");
  if (file == nullptr) serve::close(fd);
  return file;
}

}  // namespace serve
}  // namespace posix
