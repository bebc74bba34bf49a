// Changes modes, owners, times and extended attributes; shows the figures of the file system.
#include <string.h>
#include <sys/sysmacros.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/caller.h"
#include "posix/credentials/permission.h"
#include "posix/credentials/set_id.h"
#include "posix/fd/table.h"
#include "posix/job/job_files.h"
#include "posix/job/job_names.h"
#include "posix/names/calls.h"
#include "posix/path/fifo_socket.h"
#include "posix/path/lookup.h"
#include "posix/path/result.h"

namespace posix {

// A file to act on, by path or descriptor.
struct Target {
  Found found;
  cairn_stat st;
};

// Writes the state of an open file that is to be changed. A file of other hosts can be changed only
// if it is being written here.
static int open_state(const table::Use& use, cairn_stat* st) {
  if (use->shown != 0 && !job_files::is_written(*use.get())) return -EROFS;
  return cairn_fstat(use->file, st);
}

// Finds the file. Returns 0 with target->st set, 1 if the system has the file at target->found, or
// a negative errno.
static int aim(int dir, const char* path, bool follow, Target* target) {
  int error = find_existing(dir, path, follow ? 0 : CAIRN_NOFOLLOW, &target->found);
  if (error < 0) return error;
  if (target->found.descriptor >= 0 && follow) {
    table::Use use(target->found.descriptor);
    return use ? open_state(use, &target->st) : -ENOENT;
  }
  if (target->found.outside()) return 1;
  target->st = target->found.st;
  return 0;
}

// Writes the state of an open file. O_PATH descriptors allow no changes.
static int aim(const table::Use& use, cairn_stat* st) {
  if (use->kind != Kind::kFile && (cairn_file_get_flags(use->file) & O_PATH) != 0) return -EBADF;
  return open_state(use, st);
}

// Claims a file that lies in the covered directory for a change, which all hosts will see.
static int claim(const Target* target) {
  const bool is_own = target != nullptr && target->found.cover != nullptr &&
                      target->found.descriptor < 0 && !target->found.shared;
  return is_own && S_ISREG(target->st.mode) ? job_names::claim(target->found) : 0;
}

static const Found* found_of(const Target* target) {
  return target != nullptr && target->found.descriptor < 0 ? &target->found : nullptr;
}

static const Found* shared_of(const Target* target) {
  return target != nullptr && target->found.shared ? &target->found : nullptr;
}

static int change_mode(const cairn_stat& st, mode_t mode, const Target* target = nullptr) {
  int error = owns(st);
  if (error == 0 && S_ISLNK(st.mode)) error = -EOPNOTSUPP;
  if (error < 0) return error;
  // A user who is not in the group cannot give a program the group's rights.
  if ((mode & S_ISGID) != 0 && caller::effective_user() != 0 && !in_group(st.gid))
    mode &= ~static_cast<mode_t>(S_ISGID);
  if (const Found* shared = shared_of(target)) return job_files::set_mode(*shared, mode & 07777);
  if (int claimed = claim(target); claimed < 0) return claimed;
  job_names::Attributes to;
  to.mode = mode & 07777;
  return job_names::set(st, found_of(target), to);
}

static int change_owner(const cairn_stat& st, uid_t uid, gid_t gid,
                        const Target* target = nullptr) {
  constexpr auto kSame = static_cast<uint32_t>(-1);
  // A file that gets another owner loses its set-ID bits.
  unsigned lost = S_ISDIR(st.mode) ? 0 : set_ids_lost(st);
  if (caller::effective_user() != 0) {
    bool changes = uid != kSame || gid != kSame || lost != 0;
    if (changes && owns(st) < 0) return -EPERM;
    if (uid != kSame && uid != st.uid) return -EPERM;
    if (gid != kSame && gid != st.gid && !in_group(gid)) return -EPERM;
  }
  if (const Found* shared = shared_of(target))
    return job_files::set_owner(*shared, st.mode & ~lost, uid, gid);
  if (int claimed = claim(target); claimed < 0) return claimed;
  job_names::Attributes to;
  to.uid = uid;
  to.gid = gid;
  if (lost != 0) to.mode = st.mode & 07777 & ~lost;
  return job_names::set(st, found_of(target), to);
}

// Converts times to the C API's values; null: both are now. Returns 0 or a negative errno.
static int times_from(const struct timespec* times, int64_t* ns) {
  for (int i = 0; i < 2; ++i) {
    if (times == nullptr || times[i].tv_nsec == UTIME_NOW) {
      ns[i] = CAIRN_TIME_NOW;
    } else if (times[i].tv_nsec == UTIME_OMIT) {
      ns[i] = CAIRN_TIME_OMIT;
    } else if (times[i].tv_nsec < 0 || times[i].tv_nsec >= 1000000000) {
      return -EINVAL;
    } else if (__builtin_mul_overflow(int64_t{times[i].tv_sec}, int64_t{1000000000}, &ns[i])) {
      ns[i] = times[i].tv_sec < 0 ? INT64_MIN + 1 : INT64_MAX - 1;
    } else {
      ns[i] += times[i].tv_nsec;
    }
  }
  return 0;
}

// The kernel copies the times before all other checks.
template <typename Time>
static bool can_read_both(const Time* times) {
  return times == nullptr || user_memory::is_readable(times, 2 * sizeof *times);
}

// A call that leaves both times returns before the file is looked up.
static bool leaves_both(const struct timespec* times) {
  return times != nullptr && times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT;
}

static int change_times(const cairn_stat& st, const struct timespec* times,
                        const Target* target = nullptr) {
  int64_t ns[2];
  int error = times_from(times, ns);
  if (error < 0) return error;
  if (ns[0] == CAIRN_TIME_OMIT && ns[1] == CAIRN_TIME_OMIT) return 0;
  bool now = ns[0] == CAIRN_TIME_NOW && ns[1] == CAIRN_TIME_NOW;
  error = owns(st);
  if (error < 0 && now && permitted(st, W_OK) == 0) error = 0;
  if (error < 0) return now ? -EACCES : error;
  if (const Found* shared = shared_of(target)) return job_files::set_times(*shared, ns[0], ns[1]);
  if (int claimed = claim(target); claimed < 0) return claimed;
  job_names::Attributes to;
  to.atime = ns[0];
  to.mtime = ns[1];
  return job_names::set(st, found_of(target), to);
}

static bool timespecs(const struct timeval* from, struct timespec* to) {
  for (int i = 0; i < 2; ++i) {
    if (from[i].tv_usec < 0 || from[i].tv_usec >= 1000000) return false;
    to[i] = {from[i].tv_sec, from[i].tv_usec * 1000};
  }
  return true;
}

static void fill(const cairn_space& space, struct statfs* st) {
  memset(st, 0, sizeof *st);
  st->f_type = 0x43524e31;  // "CRN1"
  st->f_bsize = 4096;
  st->f_frsize = 4096;
  st->f_blocks = space.total_bytes / 4096;
  st->f_bfree = space.free_bytes / 4096;
  st->f_bavail = st->f_bfree;
  st->f_files = space.files + st->f_bfree;
  st->f_ffree = st->f_bfree;
  st->f_namelen = NAME_MAX;
  dev_t device = engine::device_number();
  memcpy(&st->f_fsid, &device, sizeof st->f_fsid);
}

static void fill(const cairn_space& space, struct statvfs* st) {
  struct statfs from;
  fill(space, &from);
  memset(st, 0, sizeof *st);
  st->f_bsize = 4096;
  st->f_frsize = 4096;
  st->f_blocks = from.f_blocks;
  st->f_bfree = from.f_bfree;
  st->f_bavail = from.f_bavail;
  st->f_files = from.f_files;
  st->f_ffree = from.f_ffree;
  st->f_favail = from.f_ffree;
  st->f_fsid = engine::device_number();
  st->f_namemax = NAME_MAX;
}

template <typename Shown>
static int file_system(Shown* st) {
  cairn_space space;
  int error = cairn_statfs(pool, &space);
  if (error < 0) return error;
  Shown shown;
  fill(space, &shown);
  return user_memory::write(st, shown);
}

// The C library answers all other names without the file.
static bool is_configured(int name) {
  switch (name) {
    case _PC_LINK_MAX:
    case _PC_NAME_MAX:
    case _PC_CHOWN_RESTRICTED:
    case _PC_2_SYMLINKS:
    case _PC_FILESIZEBITS:
    case _PC_SYMLINK_MAX:
    case _PC_ASYNC_IO:
    case _PC_REC_MIN_XFER_SIZE:
    case _PC_REC_XFER_ALIGN:
    case _PC_ALLOC_SIZE_MIN:
      return true;
    default:
      return false;
  }
}

static long configured(const cairn_stat& st, int name) {
  switch (name) {
    case _PC_LINK_MAX:
      return INT32_MAX;
    case _PC_NAME_MAX:
      return NAME_MAX;
    case _PC_ASYNC_IO:
      return S_ISREG(st.mode) ? 1 : -1;
    case _PC_CHOWN_RESTRICTED:
    case _PC_2_SYMLINKS:
      return 1;
    case _PC_FILESIZEBITS:
      return 64;
    case _PC_SYMLINK_MAX:
      return PATH_MAX - 1;
    case _PC_REC_MIN_XFER_SIZE:
    case _PC_REC_XFER_ALIGN:
    case _PC_ALLOC_SIZE_MIN:
      return 4096;
    default:
      return -1;
  }
}

// An empty path means the descriptor itself, however it was opened, or the working directory.
static bool means_descriptor(int dir, const char* path, int flags) {
  return (flags & AT_EMPTY_PATH) != 0 && active() && user_memory::is_text(path) &&
         path[0] == '\0' && (dir == AT_FDCWD ? !outside(".") : table::is_covered(dir));
}

// Calls `ours` on the descriptor's file.
template <typename Ours>
static int on_descriptor(int dir, Ours ours) {
  table::Use use(dir);
  if (!use) return fail(-EBADF);
  cairn_stat st;
  int error = open_state(use, &st);
  return static_cast<int>(result(error < 0 ? error : ours(st)));
}

// Acts on a path: makes the system's call if it leads outside.
#define ON_PATH(dir, path, follow, real_call, ours)        \
  for (StaleRetry retry;;) {                               \
    Target target;                                         \
    int aimed = aim(dir, path, follow, &target);           \
    Found& found = target.found;                           \
    if (aimed > 0) return real_call;                       \
    if (aimed < 0) return fail(aimed);                     \
    long done = ours;                                      \
    if (retry.again(&done)) continue;                      \
    return static_cast<decltype(real_call)>(result(done)); \
  }

namespace serve {

// Flags are checked before the file.
constexpr int kKnownFlags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
static bool unknown(int flags) { return (flags & ~kKnownFlags) != 0; }

int fchmodat(int dir, const char* path, mode_t mode, int flags) {
  bool itself = means_descriptor(dir, path, flags);
  if (!itself && outside(dir, path)) return real::fchmodat(dir, path, mode, flags);
  if (unknown(flags)) return fail(-EINVAL);
  if (itself && dir != AT_FDCWD)
    return on_descriptor(dir, [&](const cairn_stat& st) { return change_mode(st, mode); });
  if (itself) path = ".";
  ON_PATH(dir, path, (flags & AT_SYMLINK_NOFOLLOW) == 0,
          real::fchmodat(found.dir, found.path, mode, flags),
          change_mode(target.st, mode, &target));
}

int chmod(const char* path, mode_t mode) {
  return outside(path) ? real::chmod(path, mode) : serve::fchmodat(AT_FDCWD, path, mode, 0);
}

int fchmod(int fd, mode_t mode) {
  table::Use use(fd);
  cairn_stat st;
  if (!use)
    return fifo_socket::is_fifo(fd, &st) && st.nlink > 0
               ? static_cast<int>(result(change_mode(st, mode)))
               : real::fchmod(fd, mode);
  int error = aim(use, &st);
  return static_cast<int>(result(error < 0 ? error : change_mode(st, mode)));
}

int fchownat(int dir, const char* path, uid_t uid, gid_t gid, int flags) {
  bool itself = means_descriptor(dir, path, flags);
  if (!itself && outside(dir, path)) return real::fchownat(dir, path, uid, gid, flags);
  if (unknown(flags)) return fail(-EINVAL);
  if (itself && dir != AT_FDCWD)
    return on_descriptor(dir, [&](const cairn_stat& st) { return change_owner(st, uid, gid); });
  if (itself) path = ".";
  ON_PATH(dir, path, (flags & AT_SYMLINK_NOFOLLOW) == 0,
          real::fchownat(found.dir, found.path, uid, gid, flags),
          change_owner(target.st, uid, gid, &target));
}

int chown(const char* path, uid_t uid, gid_t gid) {
  return outside(path) ? real::chown(path, uid, gid) : serve::fchownat(AT_FDCWD, path, uid, gid, 0);
}

int lchown(const char* path, uid_t uid, gid_t gid) {
  if (outside(path)) return real::lchown(path, uid, gid);
  return serve::fchownat(AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}

int fchown(int fd, uid_t uid, gid_t gid) {
  table::Use use(fd);
  cairn_stat st;
  if (!use)
    return fifo_socket::is_fifo(fd, &st) && st.nlink > 0
               ? static_cast<int>(result(change_owner(st, uid, gid)))
               : real::fchown(fd, uid, gid);
  int error = aim(use, &st);
  return static_cast<int>(result(error < 0 ? error : change_owner(st, uid, gid)));
}

int utimensat(int dir, const char* path, const struct timespec* times, int flags) {
  bool itself = means_descriptor(dir, path, flags);
  if (!itself && outside(dir, path)) return real::utimensat(dir, path, times, flags);
  if (!can_read_both(times)) return fail(-EFAULT);
  if (leaves_both(times)) return 0;
  if (unknown(flags)) return fail(-EINVAL);
  if (itself && dir != AT_FDCWD)
    return on_descriptor(dir, [&](const cairn_stat& st) { return change_times(st, times); });
  if (itself) path = ".";
  ON_PATH(dir, path, (flags & AT_SYMLINK_NOFOLLOW) == 0,
          real::utimensat(found.dir, found.path, times, flags),
          change_times(target.st, times, &target));
}

int futimens(int fd, const struct timespec* times) {
  table::Use use(fd);
  cairn_stat st;
  if (!use)
    return fifo_socket::is_fifo(fd, &st) && st.nlink > 0
               ? static_cast<int>(result(change_times(st, times)))
               : real::futimens(fd, times);
  if (!can_read_both(times)) return fail(-EFAULT);
  int error = aim(use, &st);
  return static_cast<int>(result(error < 0 ? error : change_times(st, times)));
}

int utime(const char* path, const struct utimbuf* times) {
  if (outside(path)) return real::utime(path, times);
  if (times == nullptr) return serve::utimensat(AT_FDCWD, path, nullptr, 0);
  if (!user_memory::is_readable(times, sizeof *times)) return fail(-EFAULT);
  struct timespec both[2] = {{times->actime, 0}, {times->modtime, 0}};
  return serve::utimensat(AT_FDCWD, path, both, 0);
}

static int set_times(int dir, const char* path, const struct timeval* times, int flags) {
  struct timespec both[2];
  if (!can_read_both(times)) return fail(-EFAULT);
  if (times != nullptr && !timespecs(times, both)) return fail(-EINVAL);
  return serve::utimensat(dir, path, times != nullptr ? both : nullptr, flags);
}

int utimes(const char* path, const struct timeval* times) {
  return outside(path) ? real::utimes(path, times) : set_times(AT_FDCWD, path, times, 0);
}

int lutimes(const char* path, const struct timeval* times) {
  return outside(path) ? real::lutimes(path, times)
                       : set_times(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

int futimes(int fd, const struct timeval* times) {
  if (!table::is_covered(fd)) return real::futimes(fd, times);
  struct timespec both[2];
  if (!can_read_both(times)) return fail(-EFAULT);
  if (times != nullptr && !timespecs(times, both)) return fail(-EINVAL);
  return serve::futimens(fd, times != nullptr ? both : nullptr);
}

int futimesat(int dir, const char* path, const struct timeval* times) {
  if (path == nullptr) return serve::futimes(dir, times);
  return outside(dir, path) ? real::futimesat(dir, path, times) : set_times(dir, path, times, 0);
}

int statfs(const char* path, struct statfs* st) {
  if (outside(path)) return real::statfs(path, st);
  ON_PATH(AT_FDCWD, path, true, real::statfs(found.path, st), file_system(st));
}

int fstatfs(int fd, struct statfs* st) {
  table::Use use(fd);
  return use ? static_cast<int>(result(file_system(st))) : real::fstatfs(fd, st);
}

int statvfs(const char* path, struct statvfs* st) {
  if (outside(path)) return real::statvfs(path, st);
  ON_PATH(AT_FDCWD, path, true, real::statvfs(found.path, st), file_system(st));
}

int fstatvfs(int fd, struct statvfs* st) {
  table::Use use(fd);
  return use ? static_cast<int>(result(file_system(st))) : real::fstatvfs(fd, st);
}

long pathconf(const char* path, int name) {
  if (!is_configured(name) || outside(path)) return real::pathconf(path, name);
  Target target;
  int aimed = aim(AT_FDCWD, path, true, &target);
  if (aimed > 0) return real::pathconf(target.found.path, name);
  return aimed < 0 ? fail(aimed) : configured(target.st, name);
}

long fpathconf(int fd, int name) {
  table::Use use(fd);
  if (!use || !is_configured(name)) return real::fpathconf(fd, name);
  cairn_stat st;
  const int error = cairn_fstat(use->file, &st);
  return error < 0 ? fail(error) : configured(st, name);
}

}  // namespace serve
}  // namespace posix
