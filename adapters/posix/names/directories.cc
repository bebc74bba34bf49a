// Directory streams over cairn_readdir, and getdents64.
//
// A DIR of ours starts with a word with which the C library's cannot start (its first word is the
// descriptor and a lock). Positions are the C API's cookies, which stay valid for the directory's
// life.
#include "posix/names/directories.h"

#include <stdlib.h>
#include <string.h>

#include <mutex>
#include <new>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/fd/table.h"
#include "posix/io/calls.h"
#include "posix/io/open.h"
#include "posix/job/job_files.h"
#include "posix/names/calls.h"
#include "posix/path/covered.h"
#include "posix/path/result.h"

namespace posix {

constexpr uint64_t kMagic = 0xca124e4449520001;
constexpr size_t kBatch = 32;

struct Stream {
  uint64_t magic = kMagic;
  int fd = -1;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  uint64_t position = 0;  // cookie after the last entry that was returned
  size_t next = 0, filled = 0;
  cairn_dirent batch[kBatch];
  struct dirent entry;
};

bool is_ours(DIR* stream) { return reinterpret_cast<Stream*>(stream)->magic == kMagic; }
static Stream* stream_of(DIR* stream) { return reinterpret_cast<Stream*>(stream); }

namespace {
class Hold {
 public:
  explicit Hold(Stream* stream) : stream_(stream) { pthread_mutex_lock(&stream->mutex); }
  ~Hold() { pthread_mutex_unlock(&stream_->mutex); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Stream* stream_;
};
}  // namespace

// A removed directory has no entries, not even ".".
static bool is_removed(const table::Use& use) {
  cairn_stat st;
  return cairn_fstat(use->file, &st) == 0 && st.nlink == 0;
}

// Returns the next entry, or null at the end. Sets *error if it fails.
static const cairn_dirent* next_entry(Stream* stream, int* error) {
  *error = 0;
  if (stream->next == stream->filled) {
    table::Use use(stream->fd);
    if (!use) {
      *error = -EBADF;
      return nullptr;
    }
    if (stream->position == 0 && is_removed(use)) return nullptr;
    int got = job_files::read_directory(use->ino, stream->position, stream->batch, kBatch);
    stream->next = stream->filled = 0;
    if (got < 0 && got != -ESTALE && got != -ENOENT) *error = got;
    if (got <= 0) return nullptr;
    stream->filled = static_cast<size_t>(got);
  }
  const cairn_dirent* entry = &stream->batch[stream->next++];
  stream->position = entry->cookie;
  return entry;
}

static void fill(const cairn_dirent& from, struct dirent* to) {
  to->d_ino = from.ino;
  to->d_off = static_cast<off_t>(from.cookie);
  to->d_type = static_cast<unsigned char>(from.type);
  to->d_reclen = sizeof *to;
  memcpy(to->d_name, from.name, from.length);
  to->d_name[from.length] = '\0';
}

static void move_to(Stream* stream, uint64_t cookie) {
  Hold hold(stream);
  stream->position = cookie;
  stream->next = stream->filled = 0;
}

namespace serve {

static DIR* make_stream(int fd, bool closes_on_exec);

DIR* fdopendir(int fd) {
  return table::is_covered(fd) ? make_stream(fd, false) : real::fdopendir(fd);
}

static DIR* make_stream(int fd, bool closes_on_exec) {
  table::Use use(fd);
  if (!use) return real::fdopendir(fd);
  if (use->kind != Kind::kDirectory || (cairn_file_get_flags(use->file) & O_PATH) != 0) {
    errno = use->kind == Kind::kDirectory ? EBADF : ENOTDIR;
    return nullptr;
  }
  void* memory = malloc(sizeof(Stream));
  if (memory == nullptr) return nullptr;
  Stream* stream = new (memory) Stream;
  stream->fd = fd;
  int64_t at = cairn_seek(use->file, 0, SEEK_CUR);
  if (at > 0) stream->position = static_cast<uint64_t>(at);
  if (!closes_on_exec) real::fcntl(fd, F_SETFD, reinterpret_cast<void*>(intptr_t{FD_CLOEXEC}));
  return reinterpret_cast<DIR*>(stream);
}

// The C library opens a directory outside; through open() first if it may be an ancestor.
DIR* opendir(const char* path) {
  if (outside(path)) return real::opendir(path);
  int fd = serve::open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  DIR* stream = make_stream(fd, true);
  if (stream == nullptr) serve::close(fd);
  return stream;
}

int closedir(DIR* stream) {
  if (stream == nullptr) return fail(-EINVAL);
  if (!is_ours(stream)) {
    table::leave(real::dirfd(stream));
    return real::closedir(stream);
  }
  Stream* ours = stream_of(stream);
  int fd = ours->fd;
  ours->magic = 0;
  free(ours);
  return serve::close(fd);
}

struct dirent* readdir(DIR* stream) {
  if (!is_ours(stream)) return real::readdir(stream);
  Stream* ours = stream_of(stream);
  Hold hold(ours);
  int error;
  const cairn_dirent* entry = next_entry(ours, &error);
  if (error < 0) fail(error);
  if (entry == nullptr) return nullptr;
  fill(*entry, &ours->entry);
  return &ours->entry;
}

int readdir_r(DIR* stream, struct dirent* entry, struct dirent** next) {
  if (!is_ours(stream)) return real::readdir_r(stream, entry, next);
  Stream* ours = stream_of(stream);
  Hold hold(ours);
  int error;
  const cairn_dirent* found = next_entry(ours, &error);
  *next = nullptr;
  if (found != nullptr) {
    fill(*found, entry);
    *next = entry;
  }
  return -error;
}

void rewinddir(DIR* stream) {
  if (!is_ours(stream)) return real::rewinddir(stream);
  move_to(stream_of(stream), 0);
}

long telldir(DIR* stream) {
  if (!is_ours(stream)) return real::telldir(stream);
  Stream* ours = stream_of(stream);
  Hold hold(ours);
  return static_cast<long>(ours->position);  // NOLINT(google-runtime-int): telldir's type
}

void seekdir(DIR* stream, long position) {
  if (!is_ours(stream)) return real::seekdir(stream, position);
  move_to(stream_of(stream), static_cast<uint64_t>(position));
}

int dirfd(DIR* stream) { return is_ours(stream) ? stream_of(stream)->fd : real::dirfd(stream); }

// Writes entries in the system call's layout. The position is the shared offset.
ssize_t getdents64(int fd, void* buffer, size_t size) {
  table::Use use(fd);
  if (!use) return real::getdents64(fd, buffer, size);
  if (is_path(use)) return fail(-EBADF);
  if (use->kind != Kind::kDirectory) return fail(-ENOTDIR);
  int64_t at = cairn_seek(use->file, 0, SEEK_CUR);
  if (at < 0) return fail(at);
  if (at == 0 && is_removed(use)) return fail(-ENOENT);
  char* out = static_cast<char*>(buffer);
  size_t used = 0;
  bool full = false;
  while (!full) {
    cairn_dirent batch[8];
    int got = job_files::read_directory(use->ino, static_cast<uint64_t>(at), batch, 8);
    // The caller gets the names found so far; the next call fails.
    if (got < 0 && used == 0) return fail(got == -ESTALE ? -ENOENT : got);
    if (got <= 0) break;
    for (int i = 0; i < got; ++i) {
      constexpr size_t kHeader = offsetof(struct dirent64, d_name);
      size_t length = (kHeader + batch[i].length + 1 + 7) & ~size_t{7};
      if (used + length > size) {
        full = true;
        break;
      }
      struct dirent64 entry = {};
      entry.d_ino = batch[i].ino;
      entry.d_off = static_cast<off_t>(batch[i].cookie);
      entry.d_reclen = static_cast<uint16_t>(length);
      entry.d_type = static_cast<unsigned char>(batch[i].type);
      memcpy(entry.d_name, batch[i].name, batch[i].length);
      const int error = user_memory::write(out + used, &entry, length);
      if (error < 0 && used == 0) return fail(error);
      if (error < 0) {
        full = true;
        break;
      }
      used += length;
      at = static_cast<int64_t>(batch[i].cookie);
    }
  }
  if (full && used == 0) return fail(-EINVAL);
  int64_t moved = cairn_seek(use->file, at, SEEK_SET);
  return moved < 0 ? fail(moved) : static_cast<ssize_t>(used);
}

}  // namespace serve
}  // namespace posix
