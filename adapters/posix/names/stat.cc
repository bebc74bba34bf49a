#include "posix/names/stat.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/permission.h"
#include "posix/fd/table.h"
#include "posix/names/calls.h"
#include "posix/path/fifo_socket.h"
#include "posix/path/lookup.h"
#include "posix/path/result.h"

namespace posix {

constexpr int64_t kSecond = 1000000000;

static struct timespec timespec_of(int64_t ns) {
  int64_t seconds = ns / kSecond, rest = ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  return {static_cast<time_t>(seconds),
          static_cast<long>(rest)};  // NOLINT(google-runtime-int): timespec's
}

// All directories show one size. A real size would grow when one is listed for the first time, and
// tar stores files that have grown since it examined them as changed.
static uint64_t size_of(const cairn_stat& from) {
  constexpr uint64_t kDirectory = 4096;
  return S_ISDIR(from.mode) ? kDirectory : from.size;
}

void fill(const cairn_stat& from, struct stat* st) {
  memset(st, 0, sizeof *st);
  st->st_dev = engine::device_number();
  st->st_ino = from.ino;
  st->st_mode = from.mode;
  st->st_nlink = from.nlink;
  st->st_uid = from.uid;
  st->st_gid = from.gid;
  st->st_rdev = from.rdev;
  st->st_size = static_cast<off_t>(size_of(from));
  st->st_blksize = 4096;
  st->st_blocks = static_cast<blkcnt_t>(from.blocks);
  st->st_atim = timespec_of(from.atime_ns);
  st->st_mtim = timespec_of(from.mtime_ns);
  st->st_ctim = timespec_of(from.ctime_ns);
}

static struct statx_timestamp timestamp_of(int64_t ns) {
  struct timespec time = timespec_of(ns);
  struct statx_timestamp stamp = {};
  stamp.tv_sec = time.tv_sec;
  stamp.tv_nsec = static_cast<uint32_t>(time.tv_nsec);
  return stamp;
}

static void fill(const cairn_stat& from, struct statx* st) {
  memset(st, 0, sizeof *st);
  st->stx_mask = STATX_BASIC_STATS | STATX_BTIME;
  st->stx_blksize = 4096;
  st->stx_nlink = from.nlink;
  st->stx_uid = from.uid;
  st->stx_gid = from.gid;
  st->stx_mode = static_cast<uint16_t>(from.mode);
  st->stx_ino = from.ino;
  st->stx_size = size_of(from);
  st->stx_blocks = from.blocks;
  st->stx_atime = timestamp_of(from.atime_ns);
  st->stx_btime = timestamp_of(from.btime_ns);
  st->stx_ctime = timestamp_of(from.ctime_ns);
  st->stx_mtime = timestamp_of(from.mtime_ns);
  st->stx_dev_major = major(engine::device_number());
  st->stx_dev_minor = minor(engine::device_number());
}

// Writes the state that an open file shows.
static int state_of(const table::Use& use, cairn_stat* st) {
  int error = cairn_fstat(use->file, st);
  if (__builtin_expect(use->shown != 0, 0)) {
    st->ino = use->shown;
    st->nlink = 1;
  }
  return error;
}

// Writes the state of the file that (dir, path, flags) names. Returns 1 if the path leads outside;
// `found` has the path for the system then.
static int state_of(int dir, const char* path, int flags, Found* found, cairn_stat* st,
                    unsigned user = 0) {
  if ((flags & AT_EMPTY_PATH) != 0 && path[0] == '\0') {
    table::Use use(dir);
    if (use) return state_of(use, st);
    if (fifo_socket::is_fifo(dir, st)) return 0;
    if (dir != AT_FDCWD) {
      found->path = path;
      found->dir = dir;
      return 1;
    }
    path = ".";
  }
  unsigned how = (flags & AT_SYMLINK_NOFOLLOW) != 0 ? CAIRN_NOFOLLOW : 0;
  int error = find_existing(dir, path, how | user, found);
  if (error < 0) return error;
  if (found->descriptor >= 0 && how == 0) {
    table::Use use(found->descriptor);
    return use ? state_of(use, st) : -ENOENT;
  }
  if (found->outside()) return 1;
  *st = found->st;
  return 0;
}

// An empty path asks about a descriptor.
static bool outside_at(int dir, const char* path, int flags) {
  if (!active()) return true;
  if ((flags & AT_EMPTY_PATH) != 0 && user_memory::is_text(path) && path[0] == '\0') return false;
  return outside(dir, path);
}

// Kernels from 6.11 on take a null path with AT_EMPTY_PATH as an empty one. The call tests whether
// this kernel does, by a descriptor that the kernel knows.
static const char* empty_if_none(int dir, const char* path, int flags) {
  if (path != nullptr || (flags & AT_EMPTY_PATH) == 0 || !active()) return path;
  struct stat st;
  const int before = errno;
  const bool is_taken = real::fstatat(dir, nullptr, &st, AT_EMPTY_PATH) == 0;
  errno = before;
  return is_taken ? "" : nullptr;
}

template <typename Shown>
static int show(const cairn_stat& state, Shown* st) {
  if (__builtin_expect(user_memory::is_known_writable(st, sizeof *st), 1)) {
    fill(state, st);
    return 0;
  }
  Shown shown;
  fill(state, &shown);
  const int error = user_memory::write(st, shown);
  return error < 0 ? fail(error) : 0;
}

namespace serve {

// Flags are checked before the file.
static bool unknown(int flags, int known) { return (flags & ~known) != 0; }

// Serves stat for a path that may be covered.
static int stat_at(int dir, const char* path, struct stat* st, int flags) {
  if (unknown(flags, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE))
    return fail(-EINVAL);
  Found found;
  cairn_stat state;
  int error = state_of(dir, path, flags, &found, &state);
  if (error > 0) return real::fstatat(found.dir, found.path, st, flags);
  return error < 0 ? fail(error) : show(state, st);
}

int fstatat(int dir, const char* path, struct stat* st, int flags) {
  path = empty_if_none(dir, path, flags);
  if (outside_at(dir, path, flags)) return real::fstatat(dir, path, st, flags);
  return stat_at(dir, path, st, flags);
}

int stat(const char* path, struct stat* st) {
  return outside(path) ? real::stat(path, st) : stat_at(AT_FDCWD, path, st, 0);
}

int lstat(const char* path, struct stat* st) {
  return outside(path) ? real::lstat(path, st) : stat_at(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

// The C library's own calls the system directly.
key_t ftok(const char* path, int project) {
  if (outside(path)) return real::ftok(path, project);
  struct stat st;
  if (serve::stat(path, &st) != 0) return -1;
  return static_cast<key_t>((st.st_ino & 0xffff) | (st.st_dev & 0xff) << 16 |
                            (static_cast<unsigned>(project) & 0xff) << 24);
}

int fstat(int fd, struct stat* st) {
  table::Use use(fd);
  cairn_stat state;
  if (!use) {
    int error = real::fstat(fd, st);
    if (error == 0 && S_ISFIFO(st->st_mode) && fifo_socket::is_fifo(fd, &state)) fill(state, st);
    return error;
  }
  int error = state_of(use, &state);
  return error < 0 ? fail(error) : show(state, st);
}

int statx(int dir, const char* path, int flags, unsigned mask, struct statx* st) {
  path = empty_if_none(dir, path, flags);
  if (outside_at(dir, path, flags)) return real::statx(dir, path, flags, mask, st);
  if ((mask & STATX__RESERVED) != 0 || (flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE ||
      unknown(flags, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE))
    return fail(-EINVAL);
  Found found;
  cairn_stat state;
  int error = state_of(dir, path, flags, &found, &state);
  if (error > 0) return real::statx(found.dir, found.path, flags, mask, st);
  return error < 0 ? fail(error) : show(state, st);
}

static int access_at(int dir, const char* path, int mode, int flags) {
  if ((mode & ~(R_OK | W_OK | X_OK)) != 0 ||
      unknown(flags, AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
    return fail(-EINVAL);
  Found found;
  cairn_stat state;
  bool real_user = (flags & AT_EACCESS) == 0;
  int error = state_of(dir, path, flags, &found, &state, real_user ? kRealUser : 0);
  if (error > 0) return real::faccessat(found.dir, found.path, mode, flags);
  if (error == 0) error = permitted(state, mode, real_user);
  return static_cast<int>(result(error));
}

int faccessat(int dir, const char* path, int mode, int flags) {
  return outside(dir, path) ? real::faccessat(dir, path, mode, flags)
                            : access_at(dir, path, mode, flags);
}

int access(const char* path, int mode) {
  return outside(path) ? real::access(path, mode) : access_at(AT_FDCWD, path, mode, 0);
}

}  // namespace serve
}  // namespace posix
