#include "posix/io/open.h"

#include <string.h>
#include <sys/syscall.h>

#include <atomic>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/credentials/permission.h"
#include "posix/credentials/set_id.h"
#include "posix/fd/descriptor.h"
#include "posix/fd/fd_path.h"
#include "posix/fd/standard_streams.h"
#include "posix/fd/table.h"
#include "posix/io/calls.h"
#include "posix/job/job_files.h"
#include "posix/job/job_names.h"
#include "posix/path/covered.h"
#include "posix/path/fifo_socket.h"
#include "posix/path/lookup.h"
#include "posix/path/result.h"

namespace posix {

static std::atomic<mode_t> mask{022};

void read_umask() {
  mode_t now = real::umask(022);
  real::umask(now);
  mask = now;
}

mode_t masked(mode_t mode) { return mode & 07777 & ~mask.load(std::memory_order_relaxed); }

int forget_stale_entry(int fd) {
  if (fd >= 0 && __builtin_expect(table::peek(fd) != nullptr, 0)) table::leave(fd);
  return fd;
}

Kind kind_of(unsigned type, int flags) {
  if (S_ISDIR(type)) return Kind::kDirectory;
  return (flags & O_PATH) != 0 ? Kind::kName : Kind::kFile;
}

int install(cairn_file* file, Kind kind, Cover* cover, bool close_on_exec, cairn_ino parent,
            const char* name, cairn_ino shown) {
  int fd = descriptor::make(close_on_exec);
  if (fd < 0) {
    cairn_close(file);
    return fd;
  }
  Entry* entry = table::make(kind, file);
  if (entry == nullptr) {
    real::close(fd);
    cairn_close(file);
    return -ENOMEM;
  }
  entry->cover = cover;
  entry->shown = shown;
  if (name != nullptr) fd_path::remember(entry, parent, name);
  table::enter(fd, entry);
  table::drop(entry);
  if (fd <= 2) streams::adopt_standard_fd(fd);
  return fd;
}

Entry* adopt_file(const cairn_file_id& id, const char* lost) {
  cairn_file* file = nullptr;
  if (cairn_file_adopt(pool, id, &file) < 0) {
    log(Level::kError, lost, cairn_last_error());
    return nullptr;
  }
  cairn_stat st;
  unsigned type = cairn_fstat(file, &st) == 0 ? st.mode : 0;
  Entry* entry = table::make(kind_of(type, cairn_file_get_flags(file)), file);
  if (entry == nullptr) {
    cairn_close(file);
    return nullptr;
  }
  entry->cover = &covers[0];
  return entry;
}

// Returns the flags that the engine keeps; this file handles the others.
static int engine_flags(int flags) {
  return flags & ~(O_CLOEXEC | O_NOFOLLOW | O_CREAT | O_EXCL | O_NOCTTY);
}

static int access_of(int flags) {
  switch (flags & O_ACCMODE) {
    case O_RDONLY:
      return (flags & O_TRUNC) != 0 ? R_OK | W_OK : R_OK;
    case O_WRONLY:
      return W_OK;
    default:
      return R_OK | W_OK;
  }
}

// open_existing() returns it for a FIFO that may be opened: the kernel is to open it.
constexpr int kFifo = 1;

// `found`: the name by which the file was found; null if it was found otherwise.
static int open_existing(const cairn_stat& st, bool slash, int flags, cairn_file** file,
                         const Found* found = nullptr) {
  if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return -EEXIST;
  bool path_only = (flags & O_PATH) != 0;
  if (S_ISDIR(st.mode)) {
    if (!path_only && ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0))
      return -EISDIR;
  } else {
    if ((flags & O_DIRECTORY) != 0 || slash) return -ENOTDIR;
    if (S_ISLNK(st.mode) && !path_only) return -ELOOP;
  }
  if (!path_only) {
    if (S_ISSOCK(st.mode)) return -ENXIO;
    if (int error = permitted(st, access_of(flags)); error < 0) return error;
    if ((flags & O_NOATIME) != 0 && owns(st) < 0) return -EPERM;
    if (S_ISFIFO(st.mode)) return kFifo;
    if (S_ISDIR(st.mode) && (flags & O_DIRECT) != 0) return -EINVAL;
  }
  if (found != nullptr && found->shared) return job_files::open(*found, engine_flags(flags), file);
  int error = 0;
  if (found != nullptr && S_ISREG(st.mode) && !path_only && (access_of(flags) & W_OK) != 0)
    error = job_names::claim(*found);
  if (error < 0) return error;
  error = cairn_open_ino(pool, st.ino, st.generation, engine_flags(flags & ~O_TRUNC), file);
  if (error == 0 && (flags & O_TRUNC) != 0 && !path_only) {
    error = cairn_truncate(pool, st.ino, st.generation, 0);
    if (error == 0) bytes_changed(*file);
    if (error < 0) cairn_close(*file);
  }
  return error;
}

static int create(const Found& found, int flags, mode_t mode, cairn_file** file) {
  if ((flags & O_CREAT) == 0) return -ENOENT;
  if (found.slash) return -EISDIR;
  if (int error = permitted_in(found.parent, W_OK | X_OK); error < 0) return error;
  int kept = engine_flags(flags) | (flags & (O_CREAT | O_EXCL)) | O_NOFOLLOW;
  mode = masked(mode_in(found.parent, mode));
  if (job_files::active()) return job_names::create(found, kept, mode, file);
  return cairn_open(pool, found.parent, found.name, kept, mode, file);
}

static int open_temporary(const Found& found, int flags, mode_t mode, cairn_file** file) {
  if (!found.exists) return -ENOENT;
  if (!S_ISDIR(found.st.mode)) return -ENOTDIR;
  if (int error = permitted(found.st, W_OK | X_OK); error < 0) return error;
  int kept = engine_flags(flags) | (flags & O_EXCL);
  return cairn_open(pool, found.st.ino, ".", kept, masked(mode_in(found.st.ino, mode)), file);
}

// Opens the file of /proc/self/fd/N again, with an offset of its own.
static int reopen(int of, int flags) {
  table::Use use(of);
  if (!use) return -ENOENT;
  cairn_stat st;
  cairn_file* file = nullptr;
  int error = cairn_fstat(use->file, &st);
  // A file that several nodes write can be written only by its name.
  if (use->shown != 0 && (flags & O_PATH) == 0 && access_of(flags) != R_OK) error = -EBUSY;
  if (error == 0) error = open_existing(st, false, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW), &file);
  if (error == kFifo) return fifo_socket::open_fifo(st, flags);
  if (error < 0) return error;
  return install(file, kind_of(st.mode, flags), use->cover, (flags & O_CLOEXEC) != 0, use->parent,
                 use->name, use->shown);
}

static bool ends_in_slash(const char* path) {
  size_t length = strlen(path);
  return length > 0 && path[length - 1] == '/';
}

// Makes the kernel's checks of the flags, which come before the path. With O_PATH it ignores most
// flags.
static int check_flags(int* flags) {
  if ((*flags & O_PATH) != 0) {
    *flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    return 0;
  }
  constexpr int kTemporaryBit = O_TMPFILE & ~O_DIRECTORY;
  if ((*flags & O_CREAT) != 0 && (*flags & O_DIRECTORY) != 0) return -EINVAL;
  bool temporary = (*flags & kTemporaryBit) != 0;
  if (temporary && ((*flags & O_DIRECTORY) == 0 || (*flags & O_ACCMODE) == O_RDONLY))
    return -EINVAL;
  return 0;
}

// Opens a path that has led outside.
static int open_outside(const Found& found, int flags, mode_t mode, unsigned resolve) {
#ifdef SYS_openat2
  if ((resolve & kNoLinks) != 0) {
    constexpr uint64_t kNoSymlinks = 4;
    const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    uint64_t how[3] = {static_cast<uint64_t>(flags), creates ? mode : 0, kNoSymlinks};
    return static_cast<int>(real::syscall(SYS_openat2, found.dir,
                                          reinterpret_cast<intptr_t>(found.path),
                                          reinterpret_cast<intptr_t>(how), sizeof how, 0, 0));
  }
#endif
  return real::openat(found.dir, found.path, flags, mode);
}

static int open_covered(int dir, const char* path, int flags, mode_t mode, unsigned resolve = 0) {
  if (int error = check_flags(&flags); error < 0) return fail(error);
  bool temporary = (flags & O_TMPFILE) == O_TMPFILE;
  bool exclusive = (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0 && !temporary;
  bool follow = (flags & O_NOFOLLOW) == 0 && !exclusive;
  for (int attempt = 0;; ++attempt) {
    Found found;
    // "name/" cannot be created, whether it exists or not.
    bool creates = (flags & O_CREAT) != 0 && !temporary;
    unsigned how = creates && ends_in_slash(path) ? kOwnName : follow ? 0 : CAIRN_NOFOLLOW;
    int error = find(dir, path, how | resolve, &found);
    // The text of a link ended in "/", and led to itself or to a file that is not a directory. No
    // such name can be created.
    const bool refused = error == -ELOOP && (resolve & kNoLinks) != 0;
    if ((error == -ENOTDIR || error == -ELOOP) && !refused && creates && found.parent != 0)
      error = -EISDIR;
    if (error < 0) return fail(error);
    // /proc/self/fd/N is a link.
    if (found.descriptor >= 0 && (resolve & kNoLinks) != 0) return fail(-ELOOP);
    if (found.descriptor >= 0) return static_cast<int>(result(reopen(found.descriptor, flags)));
    if (found.outside()) {
      int fd = forget_stale_entry(open_outside(found, flags, mode, resolve));
      if (fd >= 0) note_directory(fd, found.dir, found.path);
      if (fd >= 0 && fd <= 2) streams::adopt_standard_fd(fd);
      return fd;
    }
    // "./" and "../" always exist, so only O_EXCL conflicts with them.
    bool dots = strcmp(found.name, ".") == 0 || strcmp(found.name, "..") == 0;
    if (creates && found.slash && !(found.exists && dots)) return fail(-EISDIR);
    cairn_file* file = nullptr;
    if (temporary) {
      error = open_temporary(found, flags, mode, &file);
    } else if (found.exists) {
      error = open_existing(found.st, found.slash, flags, &file, &found);
    } else {
      error = create(found, flags, mode, &file);
    }
    if (error == kFifo) {
      int fd =
          forget_stale_entry(static_cast<int>(result(fifo_socket::open_fifo(found.st, flags))));
      if (fd >= 0 && fd <= 2) streams::adopt_standard_fd(fd);
      return fd;
    }
    // The file was removed since the walk, or replaced by a link.
    bool changed = error == -ESTALE || error == job_files::kNowPlain ||
                   (error == -ELOOP && !found.exists && follow);
    if (changed && attempt < 100) continue;
    if (error == -ESTALE || error > 0) error = -ENOENT;
    if (error < 0) return fail(error);
    unsigned type = found.exists && !temporary ? found.st.mode : static_cast<unsigned>(S_IFREG);
    int fd = install(file, kind_of(type, flags), found.cover, (flags & O_CLOEXEC) != 0,
                     temporary ? found.st.ino : found.parent, temporary ? "" : found.name,
                     found.shared ? found.st.ino : 0);
    return static_cast<int>(result(fd));
  }
}

int open_resolved(int dir, const char* path, int flags, mode_t mode, unsigned resolve) {
  return open_covered(dir, path, flags, mode, resolve);
}

namespace serve {

int open(const char* path, int flags, mode_t mode) {
  if (!outside(path)) return open_covered(AT_FDCWD, path, flags, mode);
  int fd = forget_stale_entry(real::open(path, flags, mode));
  if (fd >= 0 && fd <= 2) streams::adopt_standard_fd(fd);
  return fd;
}

int openat(int dir, const char* path, int flags, mode_t mode) {
  if (!outside(dir, path)) return open_covered(dir, path, flags, mode);
  int fd = forget_stale_entry(real::openat(dir, path, flags, mode));
  if (fd >= 0 && fd <= 2) streams::adopt_standard_fd(fd);
  return fd;
}

mode_t umask(mode_t new_mask) {
  mode_t old = real::umask(new_mask);
  mask = new_mask & 0777;
  return old;
}

}  // namespace serve
}  // namespace posix
