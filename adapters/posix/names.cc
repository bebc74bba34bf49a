// Creating, removing and moving names.
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "posix/calls.h"
#include "posix/find.h"
#include "posix/hidden.h"
#include "posix/log.h"
#include "posix/open.h"
#include "posix/permission.h"
#include "posix/pool.h"
#include "posix/table.h"

namespace posix {

// A place for a new name: outside (1), or a negative errno, or 0 with a name that does not exist.
static int find_free(int dir, const char* path, Found* found) {
  int error = find(dir, path, CAIRN_NOFOLLOW, found);
  if (error < 0) return error;
  if (found->descriptor >= 0) return -EEXIST;
  if (found->outside()) return 1;
  if (found->exists) return -EEXIST;
  return permitted_in(found->parent, W_OK | X_OK);
}

// A name that is to go: its own last component, never what a link says.
static int find_removable(int dir, const char* path, Found* found) {
  int error = find_existing(dir, path, CAIRN_NOFOLLOW, found);
  if (error < 0) return error;
  if (found->outside()) return 1;
  return may_remove(found->parent, found->st);
}

// "." and "..", and the top of the cover, which is a mount point to the program.
static bool is_fixed(const Found& found) {
  return strcmp(found.name, ".") == 0 || strcmp(found.name, "..") == 0 ||
         found.st.ino == found.cover->top;
}

static bool names_dot(const char* path) {
  size_t length = strlen(path);
  while (length > 0 && path[length - 1] == '/') --length;
  return length > 0 && path[length - 1] == '.' && (length == 1 || path[length - 2] == '/');
}

static int remove_directory(Found& found, const char* path) {
  if (!S_ISDIR(found.st.mode)) return -ENOTDIR;
  if (names_dot(path)) return -EINVAL;
  if (is_fixed(found)) return -EBUSY;
  return cairn_rmdir(pool, found.parent, found.name);
}

static int remove_file(Found& found) {
  if (S_ISDIR(found.st.mode)) return -EISDIR;
  int error = cairn_unlink(pool, found.parent, found.name);
  if (error == 0) hidden::name_removed(found.st);
  return error;
}

static int rename_covered(Found& from, Found& to, const char* to_path, unsigned flags) {
  if (is_fixed(from) || (to.exists && is_fixed(to))) return names_dot(to_path) ? -EBUSY : -EBUSY;
  if ((flags & ~3U) != 0) return -EINVAL;
  if (!S_ISDIR(from.st.mode) && (to.slash || from.slash)) return -ENOTDIR;
  int error = to.exists ? may_remove(to.parent, to.st) : permitted_in(to.parent, W_OK | X_OK);
  if (error < 0) return error;
  error = cairn_rename(pool, from.parent, from.name, to.parent, to.name, flags);
  if (error == 0 && to.exists && (flags & RENAME_EXCHANGE) == 0 && to.st.ino != from.st.ino)
    hidden::name_removed(to.st);
  return error;
}

// ESTALE: the directory went away since it was found.
static int done(int error) { return static_cast<int>(result(error == -ESTALE ? -ENOENT : error)); }

namespace serve {

int mkdirat(int dir, const char* path, mode_t mode) {
  if (outside(dir, path)) return real::mkdirat(dir, path, mode);
  Found found;
  int error = find_free(dir, path, &found);
  if (error > 0) return real::mkdirat(found.dir, found.path, mode);
  if (error == 0) error = cairn_mkdir(pool, found.parent, found.name, masked(mode & 01777));
  return done(error);
}

int mkdir(const char* path, mode_t mode) {
  if (outside(path)) return real::mkdir(path, mode);
  return serve::mkdirat(AT_FDCWD, path, mode);
}

int mknodat(int dir, const char* path, mode_t mode, dev_t device) {
  if (outside(dir, path)) return real::mknodat(dir, path, mode, device);
  Found found;
  int error = find_free(dir, path, &found);
  if (error > 0) return real::mknodat(found.dir, found.path, mode, device);
  if (error == 0 && found.slash) error = -ENOENT;
  unsigned type = (mode & S_IFMT) == 0 ? static_cast<unsigned>(S_IFREG) : mode & S_IFMT;
  if (error == 0) error = cairn_mknod(pool, found.parent, found.name, type | masked(mode));
  return done(error);
}

int mknod(const char* path, mode_t mode, dev_t device) {
  if (outside(path)) return real::mknod(path, mode, device);
  return serve::mknodat(AT_FDCWD, path, mode, device);
}

int unlinkat(int dir, const char* path, int flags) {
  if (outside(dir, path)) return real::unlinkat(dir, path, flags);
  if ((flags & ~AT_REMOVEDIR) != 0) return fail(-EINVAL);
  Found found;
  int error = find_removable(dir, path, &found);
  if (error > 0) return real::unlinkat(found.dir, found.path, flags);
  if (error == 0)
    error = (flags & AT_REMOVEDIR) != 0 ? remove_directory(found, path) : remove_file(found);
  return done(error);
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
  Found found;
  int error = find_removable(AT_FDCWD, path, &found);
  if (error > 0) return real::remove(found.path);
  if (error == 0)
    error = S_ISDIR(found.st.mode) ? remove_directory(found, path) : remove_file(found);
  return done(error);
}

int renameat2(int from_dirfd, const char* from, int to_dirfd, const char* to, unsigned flags) {
  bool from_outside = outside(from_dirfd, from);
  bool to_outside = outside(to_dirfd, to);
  if (from_outside && to_outside) return real::renameat2(from_dirfd, from, to_dirfd, to, flags);
  Found source, target;
  int error = from_outside ? 1 : find_removable(from_dirfd, from, &source);
  if (error < 0) return done(error);
  from_outside = error > 0;
  error = to_outside ? 0 : find(to_dirfd, to, CAIRN_NOFOLLOW, &target);
  if (error < 0) return done(error);
  to_outside = to_outside || target.outside();
  if (from_outside && to_outside) {
    bool plain_from = source.path == nullptr, plain_to = target.path == nullptr;
    return real::renameat2(plain_from ? from_dirfd : source.dir, plain_from ? from : source.path,
                           plain_to ? to_dirfd : target.dir, plain_to ? to : target.path, flags);
  }
  if (from_outside || to_outside || source.cover != target.cover) return fail(-EXDEV);
  return done(rename_covered(source, target, to, flags));
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

// Names an open file, also one that never had a name (O_TMPFILE).
static int link_descriptor(int fd, int to_dirfd, const char* to) {
  table::Use use(fd);
  if (!use) return fail(-ENOENT);
  cairn_stat st;
  int error = cairn_fstat(use->file, &st);
  if (error == 0 && S_ISDIR(st.mode)) error = -EPERM;
  // What has lost its last name stays without, and O_EXCL asked for that.
  int flags = cairn_file_get_flags(use->file);
  bool may_be_named = (flags & O_TMPFILE) == O_TMPFILE && (flags & O_EXCL) == 0;
  if (error == 0 && st.nlink == 0 && !may_be_named) error = -ENOENT;
  Found target;
  if (error == 0) error = outside(to_dirfd, to) ? 1 : find_free(to_dirfd, to, &target);
  if (error > 0 || (error == 0 && target.cover != use->cover && use->cover != nullptr))
    return fail(-EXDEV);
  if (error == 0 && target.slash) error = -ENOENT;
  return done(error < 0 ? error : cairn_link_ino(pool, st.ino, target.parent, target.name));
}

int linkat(int from_dirfd, const char* from, int to_dirfd, const char* to, int flags) {
  bool from_outside = outside(from_dirfd, from);
  bool to_outside = outside(to_dirfd, to);
  if ((flags & AT_EMPTY_PATH) != 0 && from[0] == '\0' && table::is_covered(from_dirfd))
    return link_descriptor(from_dirfd, to_dirfd, to);
  if (from_outside && to_outside) return real::linkat(from_dirfd, from, to_dirfd, to, flags);
  Found source, target;
  unsigned how = (flags & AT_SYMLINK_FOLLOW) != 0 ? 0 : CAIRN_NOFOLLOW;
  int error = from_outside ? 0 : find_existing(from_dirfd, from, how, &source);
  if (error < 0) return done(error);
  if (source.descriptor >= 0 && how == 0) return link_descriptor(source.descriptor, to_dirfd, to);
  from_outside = from_outside || source.outside();
  error = to_outside ? 1 : find_free(to_dirfd, to, &target);
  if (error < 0) return done(error);
  to_outside = error > 0;
  if (from_outside && to_outside) {
    bool plain_from = source.path == nullptr, plain_to = target.path == nullptr;
    return real::linkat(plain_from ? from_dirfd : source.dir, plain_from ? from : source.path,
                        plain_to ? to_dirfd : target.dir, plain_to ? to : target.path, flags);
  }
  if (from_outside || to_outside || source.cover != target.cover) return fail(-EXDEV);
  if (S_ISDIR(source.st.mode)) return fail(-EPERM);
  if (target.slash) return fail(-ENOENT);
  return done(
      cairn_link(pool, source.parent, source.name, target.parent, target.name, CAIRN_NOFOLLOW));
}

int link(const char* from, const char* to) {
  if (outside(from) && outside(to)) return real::link(from, to);
  return serve::linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int symlinkat(const char* target, int dir, const char* path) {
  if (outside(dir, path)) return real::symlinkat(target, dir, path);
  Found found;
  int error = find_free(dir, path, &found);
  if (error > 0) return real::symlinkat(target, found.dir, found.path);
  if (error == 0 && (target[0] == '\0' || found.slash)) error = -ENOENT;
  if (error == 0) error = cairn_symlink(pool, target, found.parent, found.name);
  return done(error);
}

int symlink(const char* target, const char* path) {
  if (outside(path)) return real::symlink(target, path);
  return serve::symlinkat(target, AT_FDCWD, path);
}

ssize_t readlinkat(int dir, const char* path, char* buffer, size_t size) {
  if (outside(dir, path)) return real::readlinkat(dir, path, buffer, size);
  Found found;
  int error = find_existing(dir, path, CAIRN_NOFOLLOW, &found);
  if (error < 0) return fail(error);
  if (found.outside()) return real::readlinkat(found.dir, found.path, buffer, size);
  if (size == 0 || !S_ISLNK(found.st.mode)) return fail(-EINVAL);
  return result(cairn_readlink(pool, found.parent, found.name, buffer, size));
}

ssize_t readlink(const char* path, char* buffer, size_t size) {
  if (outside(path)) return real::readlink(path, buffer, size);
  return serve::readlinkat(AT_FDCWD, path, buffer, size);
}

int chroot(const char* path) {
  if (outside(path)) return real::chroot(path);
  Found found;
  int error = find(AT_FDCWD, path, 0, &found);
  if (error < 0) return fail(error);
  if (found.outside()) return real::chroot(found.path);
  return refuse("chroot", path, ENOSYS);
}

}  // namespace serve
}  // namespace posix
