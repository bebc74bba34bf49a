// Creates, removes and moves names.
#include "posix/names/names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/permission.h"
#include "posix/fd/table.h"
#include "posix/io/open.h"
#include "posix/job/job_files.h"
#include "posix/job/job_names.h"
#include "posix/names/calls.h"
#include "posix/path/fifo_socket.h"
#include "posix/path/lookup.h"
#include "posix/path/result.h"

namespace posix {

int find_free(int dir, const char* path, Found* found) {
  int error = find(dir, path, kOwnName, found);
  if (error < 0) return error;
  if (found->descriptor >= 0) return -EEXIST;
  if (found->outside()) return 1;
  if (found->exists) return -EEXIST;
  return permitted_in(found->parent, W_OK | X_OK);
}

int check_start(int dir, const char* path, bool may_be_empty) {
  if (!user_memory::is_text(path)) return -EFAULT;
  if (path[0] == '\0' && !may_be_empty) return -ENOENT;
  if (path[0] == '/' || dir == AT_FDCWD || real::fcntl(dir, F_GETFD, nullptr) >= 0) return 0;
  return -EBADF;
}

int done(int error) { return static_cast<int>(result(error == -ESTALE ? -ENOENT : error)); }

// Finds a name to be removed: the path's last component, never a link's target.
static int find_removable(int dir, const char* path, Found* found) {
  int error = find_existing(dir, path, kOwnName, found);
  if (error < 0) return error;
  if (found->outside()) return 1;
  if (found->slash && !S_ISDIR(found->st.mode)) return -ENOTDIR;
  return may_remove(found->parent, found->st);
}

// Returns true for "." and "..", and for the top of the cover, which is a mount point to the
// program.
static bool is_fixed(const Found& found) {
  return strcmp(found.name, ".") == 0 || strcmp(found.name, "..") == 0 ||
         found.st.ino == found.cover->top;
}

// Returns the last component, without slashes behind it, and its length in *length.
static const char* last_component(const char* path, size_t* length) {
  size_t end = strlen(path);
  while (end > 0 && path[end - 1] == '/') --end;
  size_t start = end;
  while (start > 0 && path[start - 1] != '/') --start;
  *length = end - start;
  return path + start;
}

static bool names_dot(const char* path, const char* dots) {
  size_t length;
  const char* last = last_component(path, &length);
  return length == strlen(dots) && memcmp(last, dots, length) == 0;
}

static bool is_long(const char* path) {
  size_t length;
  last_component(path, &length);
  return length > NAME_MAX;
}

int look_outside(int dir, const char* path, bool free) {
  char parent[PATH_MAX];
  if (path[0] == '\0') return -ENOENT;
  if (strnlen(path, PATH_MAX) == PATH_MAX) return -ENAMETOOLONG;
  size_t length;
  const auto before = static_cast<size_t>(last_component(path, &length) - path);
  if (length == 0) return free ? -EEXIST : 0;  // "/"
  if (before + 2 > sizeof parent) return -ENAMETOOLONG;
  memcpy(parent, path, before);
  memcpy(parent + before, ".", 2);
  struct stat st;
  const int kept = errno;
  int error = real::fstatat(dir, parent, &st, 0) == 0 ? 0 : -errno;
  if (error == 0 && free) {
    char name[PATH_MAX];
    memcpy(name, path, before + length);
    name[before + length] = '\0';
    if (real::fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
      error = -EEXIST;
    else if (path[before + length] == '/')
      error = -ENOENT;
  }
  errno = kept;
  return error;
}

static int remove_directory(Found& found, const char* path) {
  if (!S_ISDIR(found.st.mode)) return -ENOTDIR;
  if (names_dot(path, ".")) return -EINVAL;
  if (names_dot(path, "..")) return -ENOTEMPTY;
  if (is_fixed(found)) return -EBUSY;
  if (job_files::active() && job_files::any_in(found, false)) return -ENOTEMPTY;
  return job_names::rmdir(found);
}

static int remove_file(Found& found) {
  if (S_ISDIR(found.st.mode)) return -EISDIR;
  if (found.shared) return job_files::remove(found);
  int error = job_names::unlink(found);
  if (error == 0) fifo_socket::name_removed(found.st);
  return error;
}

// Returns true if `directory` lies below `above`, or is the same.
static bool lies_below(cairn_ino directory, cairn_ino above) {
  char path[PATH_MAX];
  const int length = cairn_path_of(pool, above, directory, path, sizeof path);
  return length >= 0 || length == -ERANGE;
}

// A directory that gets another parent must be writable, because its ".." changes.
static int may_get_parents(const Found& from, const Found& to, bool exchange) {
  if (from.parent == to.parent) return 0;
  const bool moves = S_ISDIR(from.st.mode);
  const bool other_is = to.exists && S_ISDIR(to.st.mode);
  // The pool returns the error if the replaced file is of another kind.
  if (!exchange && to.exists && moves != other_is) return 0;
  int error = moves ? permitted(from.st, W_OK) : 0;
  if (error == 0 && exchange && other_is) error = permitted(to.st, W_OK);
  return error;
}

static int may_rename(const Found& from, const Found& to, bool exchange) {
  int error = may_remove(from.parent, from.st);
  if (error == 0)
    error = to.exists ? may_remove(to.parent, to.st) : permitted_in(to.parent, W_OK | X_OK);
  if (error == 0) error = may_get_parents(from, to, exchange);
  if (error == 0) return 0;
  // A directory cannot move into itself; this check comes first.
  if (S_ISDIR(from.st.mode) && lies_below(to.parent, from.st.ino)) return -EINVAL;
  if (to.exists && S_ISDIR(to.st.mode) && lies_below(from.parent, to.st.ino))
    return exchange ? -EINVAL : -ENOTEMPTY;
  return error;
}

static int rename_covered(Found& from, Found& to, unsigned flags) {
  bool keep = (flags & RENAME_NOREPLACE) != 0;
  if (from.exists && is_fixed(from)) return -EBUSY;
  if (to.exists && is_fixed(to)) return keep ? -EEXIST : -EBUSY;
  if (!from.exists) return -ENOENT;
  if (keep && to.exists) return -EEXIST;
  bool exchange = (flags & RENAME_EXCHANGE) != 0;
  if (exchange && !to.exists) return -ENOENT;
  if (!S_ISDIR(from.st.mode) && (from.slash || (to.slash && !exchange))) return -ENOTDIR;
  if (exchange && to.slash && !S_ISDIR(to.st.mode)) return -ENOTDIR;
  if (to.exists && to.st.ino == from.st.ino) return 0;
  int error = may_rename(from, to, exchange);
  if (error < 0) return error;
  if (job_files::active()) {
    if (exchange && (from.shared || to.shared)) return -EINVAL;
    if (S_ISDIR(from.st.mode) && to.shared) return -ENOTDIR;
    if (from.shared && to.exists && S_ISDIR(to.st.mode)) return -EISDIR;
    if ((flags & RENAME_WHITEOUT) != 0) return -EINVAL;
    if (from.shared) return job_files::rename(from, to, flags);
  }
  error = job_names::rename(from, to, flags);
  if (error == 0 && to.exists && !exchange && to.st.ino != from.st.ino)
    fifo_socket::name_removed(to.st);
  if (error == 0 && to.shared) error = job_files::replaced(to);
  return error;
}

namespace serve {

int mkdirat(int dir, const char* path, mode_t mode) {
  if (outside(dir, path)) return real::mkdirat(dir, path, mode);
  Found found;
  int error = find_free(dir, path, &found);
  if (error > 0) return real::mkdirat(found.dir, found.path, mode);
  if (error == 0) error = job_names::mkdir(found, masked(mode & 01777));
  return done(error);
}

int mkdir(const char* path, mode_t mode) {
  if (outside(path)) return real::mkdir(path, mode);
  return serve::mkdirat(AT_FDCWD, path, mode);
}

// Returns the kernel's error for a type that cannot be made. It comes before the lookup.
static int check_type(mode_t mode) {
  switch (mode & S_IFMT) {
    case 0:
    case S_IFREG:
    case S_IFIFO:
    case S_IFSOCK:
    case S_IFCHR:
    case S_IFBLK:
      return 0;
    default:
      return S_ISDIR(mode) ? -EPERM : -EINVAL;
  }
}

int mknodat(int dir, const char* path, mode_t mode, dev_t device) {
  if (outside(dir, path)) return real::mknodat(dir, path, mode, device);
  if (int wrong = check_type(mode); wrong < 0) return fail(wrong);
  Found found;
  int error = find_free(dir, path, &found);
  if (error > 0) return real::mknodat(found.dir, found.path, mode, device);
  if (error == 0 && found.slash) error = -ENOENT;
  unsigned type = (mode & S_IFMT) == 0 ? static_cast<unsigned>(S_IFREG) : mode & S_IFMT;
  if (error == 0) {
    mode = type | masked(mode_in(found.parent, mode));
    const bool is_device = type == S_IFCHR || type == S_IFBLK;  // no pool stores devices
    error = is_device ? cairn_mknod(pool, found.parent, found.name, mode)
                      : job_names::mknod(found, mode);
  }
  return done(error);
}

int mknod(const char* path, mode_t mode, dev_t device) {
  if (outside(path)) return real::mknod(path, mode, device);
  return serve::mknodat(AT_FDCWD, path, mode, device);
}

int unlinkat(int dir, const char* path, int flags) {
  if (outside(dir, path)) return real::unlinkat(dir, path, flags);
  if ((flags & ~AT_REMOVEDIR) != 0) return fail(-EINVAL);
  for (StaleRetry retry;;) {
    Found found;
    int error = find_removable(dir, path, &found);
    if (error > 0) return real::unlinkat(found.dir, found.path, flags);
    if (error == 0)
      error = (flags & AT_REMOVEDIR) != 0 ? remove_directory(found, path) : remove_file(found);
    if (!retry.again(&error)) return done(error);
  }
}

int unlink(const char* path) {
  if (outside(path)) return real::unlink(path);
  return serve::unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char* path) {
  if (outside(path)) return real::rmdir(path);
  return serve::unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int remove(const char* path) {
  if (outside(path)) return real::remove(path);
  for (StaleRetry retry;;) {
    Found found;
    int error = find_removable(AT_FDCWD, path, &found);
    if (error > 0) return real::remove(found.path);
    if (error == 0)
      error = S_ISDIR(found.st.mode) ? remove_directory(found, path) : remove_file(found);
    if (!retry.again(&error)) return done(error);
  }
}

static int rename_found(int from_dirfd, const char* from, int to_dirfd, const char* to,
                        unsigned flags, StaleRetry* retry) {
  bool from_outside = outside(from_dirfd, from);
  bool to_outside = outside(to_dirfd, to);
  if (from_outside && to_outside) return real::renameat2(from_dirfd, from, to_dirfd, to, flags);
  constexpr unsigned kKnown = RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT;
  if ((flags & ~kKnown) != 0 || ((flags & RENAME_EXCHANGE) != 0 && flags != RENAME_EXCHANGE))
    return fail(-EINVAL);
  if (int wrong = check_start(from_dirfd, from); wrong < 0) return fail(wrong);
  Found source, target;
  // Both directories are looked up before the file that the first name leads to, as in the kernel.
  int error = from_outside ? look_outside(from_dirfd, from, false)
                           : find(from_dirfd, from, kOwnName, &source);
  if (error == 0 && !from_outside && source.outside()) {
    from_outside = true;
    error = look_outside(source.dir, source.path, false);
  }
  if (error < 0 && (from_outside || error != -ENAMETOOLONG || !is_long(from))) return done(error);
  if (int wrong = check_start(to_dirfd, to); wrong < 0) return fail(wrong);
  int error_to = to_outside ? 0 : find(to_dirfd, to, kOwnName, &target);
  if (error_to < 0 && !(error_to == -ENAMETOOLONG && is_long(to))) return done(error_to);
  // A last name that cannot be changed comes before one that is too long.
  bool dots = names_dot(to, ".") || names_dot(to, "..");
  if (error < 0 && dots) return done((flags & RENAME_NOREPLACE) != 0 ? -EEXIST : -EBUSY);
  // A last name that is too long is refused only now.
  if (error < 0) return done(error);
  if (error_to < 0 && !from_outside && !source.exists) return done(-ENOENT);
  if (error_to < 0 && !from_outside && is_fixed(source)) return done(-EBUSY);
  if (error_to < 0) return done(error_to);
  to_outside = to_outside || target.outside();
  if (from_outside && to_outside) {
    bool plain_from = source.path == nullptr, plain_to = target.path == nullptr;
    return real::renameat2(plain_from ? from_dirfd : source.dir, plain_from ? from : source.path,
                           plain_to ? to_dirfd : target.dir, plain_to ? to : target.path, flags);
  }
  if (to_outside) {
    error = target.path == nullptr ? look_outside(to_dirfd, to, false)
                                   : look_outside(target.dir, target.path, false);
    if (error < 0) return fail(error);
  }
  if (from_outside || to_outside || source.cover != target.cover) return fail(-EXDEV);
  error = rename_covered(source, target, flags);
  // The shared file became an ordinary one, so the call tries again.
  if (error == job_files::kNowPlain) error = -ESTALE;
  if (retry->again(&error)) return rename_found(from_dirfd, from, to_dirfd, to, flags, retry);
  return done(error);
}

int renameat2(int from_dirfd, const char* from, int to_dirfd, const char* to, unsigned flags) {
  StaleRetry retry;
  return rename_found(from_dirfd, from, to_dirfd, to, flags, &retry);
}

int renameat(int from_dirfd, const char* from, int to_dirfd, const char* to) {
  if (outside(from_dirfd, from) && outside(to_dirfd, to))
    return real::renameat(from_dirfd, from, to_dirfd, to);
  return serve::renameat2(from_dirfd, from, to_dirfd, to, 0);
}

int rename(const char* from, const char* to) {
  if (outside(from) && outside(to)) return real::rename(from, to);
  return serve::renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int chroot(const char* path) {
  if (outside(path)) return real::chroot(path);
  Found found;
  int error = find_existing(AT_FDCWD, path, 0, &found);
  if (error < 0) return fail(error);
  if (found.outside()) return real::chroot(found.path);
  if (!S_ISDIR(found.st.mode)) return fail(-ENOTDIR);
  return refuse("chroot", path, ENOSYS);
}

}  // namespace serve
}  // namespace posix
