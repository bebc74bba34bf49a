// Hard and symbolic links.
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/self_exe.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/permission.h"
#include "posix/fd/fd_path.h"
#include "posix/fd/table.h"
#include "posix/job/job_files.h"
#include "posix/job/job_names.h"
#include "posix/names/calls.h"
#include "posix/names/names.h"
#include "posix/path/program_file.h"
#include "posix/path/result.h"

namespace posix::serve {

// Makes a hard link in a job on several hosts.
static int link_of_job(const Found& source, const Found& target) {
  // A shared file's record has one name. An ordinary file of another host has its names there.
  if (source.shared) return -EXDEV;
  // Once one host changes a file of the covered directory, all hosts see the changed one.
  if (int claimed = S_ISREG(source.st.mode) ? job_names::claim(source) : 0; claimed < 0)
    return claimed;
  return job_names::link(source.st, target);
}

// Makes a hard link to an open file. It is claimed by its name, so a file whose name is unknown
// gets no other name.
static int link_open_of_job(const table::Use& use, const cairn_stat& st, const Found& target) {
  char path[2 * PATH_MAX];
  Found source;
  if (fd_path::path_of(use.get(), path, sizeof path) < 0 ||
      find_existing(AT_FDCWD, path, CAIRN_NOFOLLOW, &source) < 0)
    return -EXDEV;
  if (source.cover != target.cover || source.st.ino != st.ino ||
      source.st.generation != st.generation)
    return -EXDEV;
  int error = link_of_job(source, target);
  return error == -ESTALE ? -EXDEV : error;
}

// Names an open file, also one that never had a name (O_TMPFILE).
static int link_descriptor(int fd, int to_dirfd, const char* to) {
  table::Use use(fd);
  if (!use) return fail(-ENOENT);
  if (int wrong = check_start(to_dirfd, to); wrong < 0) return fail(wrong);
  cairn_stat st;
  Found target;
  int error = outside(to_dirfd, to) ? 1 : find_free(to_dirfd, to, &target);
  if (error > 0) {
    const int wrong = target.path == nullptr ? look_outside(to_dirfd, to, true)
                                             : look_outside(target.dir, target.path, true);
    if (wrong < 0) return fail(wrong);
  }
  if (error > 0 || (error == 0 && target.cover != use->cover && use->cover != nullptr))
    return fail(-EXDEV);
  if (error == 0 && target.slash) error = -ENOENT;
  if (error == 0) error = cairn_fstat(use->file, &st);
  if (error == 0 && S_ISDIR(st.mode)) error = -EPERM;
  // A file that has lost its last name gets no other one. O_EXCL asked for the same.
  int flags = cairn_file_get_flags(use->file);
  bool may_be_named = (flags & O_TMPFILE) == O_TMPFILE && (flags & O_EXCL) == 0 && !use->named;
  if (error == 0 && st.nlink == 0 && !may_be_named) error = -ENOENT;
  if (error == 0 && st.nlink > 0) error = may_link(st);
  if (error == 0) {
    // A file made without a name belongs to this host.
    bool may_lie_below = st.nlink > 0 && S_ISREG(st.mode) && !use->named && job_files::active();
    error = may_lie_below ? link_open_of_job(use, st, target) : job_names::link(st, target);
    if (error == 0 && st.nlink == 0) use->named = true;
  }
  return done(error);
}

// Returns 0 if the file may get this name, or a negative errno.
static int check(const Found& source, const Found& target) {
  if (source.outside() || source.cover != target.cover) return -EXDEV;
  if (target.slash) return -ENOENT;
  return S_ISDIR(source.st.mode) ? -EPERM : may_link(source.st);
}

// Returns the kernel's error for a source outside the cover: the kernel looks it up before it finds
// EXDEV.
static int look_at_source(int dir, const char* path, int flags) {
  struct stat st;
  const int kept = errno;
  const int follow = (flags & AT_SYMLINK_FOLLOW) != 0 ? 0 : AT_SYMLINK_NOFOLLOW;
  const int how = (flags & AT_EMPTY_PATH) | follow;
  const int error = real::fstatat(dir, path, &st, how) == 0 ? 0 : -errno;
  errno = kept;
  return error;
}

int linkat(int from_dirfd, const char* from, int to_dirfd, const char* to, int flags) {
  bool from_outside = outside(from_dirfd, from);
  bool to_outside = outside(to_dirfd, to);
  constexpr int kKnown = AT_SYMLINK_FOLLOW | AT_EMPTY_PATH;
  const bool is_empty =
      (flags & AT_EMPTY_PATH) != 0 && user_memory::is_text(from) && from[0] == '\0';
  if (is_empty && (flags & ~kKnown) == 0 && table::is_covered(from_dirfd))
    return link_descriptor(from_dirfd, to_dirfd, to);
  if (from_outside && to_outside) return real::linkat(from_dirfd, from, to_dirfd, to, flags);
  if ((flags & ~kKnown) != 0) return fail(-EINVAL);
  if (int wrong = check_start(from_dirfd, from, is_empty); wrong < 0) return fail(wrong);
  if (is_empty && from_dirfd == AT_FDCWD) from = ".";
  Found source, target;
  unsigned how = (flags & AT_SYMLINK_FOLLOW) != 0 ? 0 : CAIRN_NOFOLLOW;
  int error = from_outside ? look_at_source(from_dirfd, from, flags)
                           : find_existing(from_dirfd, from, how, &source);
  if (error < 0) return done(error);
  if (source.descriptor >= 0 && how == 0) return link_descriptor(source.descriptor, to_dirfd, to);
  if (!from_outside && source.outside()) {
    from_outside = true;
    error = look_at_source(source.dir, source.path, flags);
    if (error < 0) return fail(error);
  }
  if (int wrong = check_start(to_dirfd, to); wrong < 0) return fail(wrong);
  error = to_outside ? 1 : find_free(to_dirfd, to, &target);
  if (error < 0) return done(error);
  to_outside = error > 0;
  if (from_outside && to_outside) {
    bool plain_from = source.path == nullptr, plain_to = target.path == nullptr;
    return real::linkat(plain_from ? from_dirfd : source.dir, plain_from ? from : source.path,
                        plain_to ? to_dirfd : target.dir, plain_to ? to : target.path, flags);
  }
  if (to_outside) {
    error = target.path == nullptr ? look_outside(to_dirfd, to, true)
                                   : look_outside(target.dir, target.path, true);
    if (error < 0) return fail(error);
  }
  if (from_outside || to_outside) return fail(-EXDEV);
  if (error = check(source, target); error < 0) return fail(error);
  if (!job_files::active())
    return done(
        cairn_link(pool, source.parent, source.name, target.parent, target.name, CAIRN_NOFOLLOW));
  StaleRetry retry;
  do {
    // The file was replaced: the new one may not be allowed to get another name.
    if (error == -ESTALE) error = find_existing(from_dirfd, from, how, &source);
    if (error == 0) error = check(source, target);
    if (error == 0) error = link_of_job(source, target);
  } while (retry.again(&error));
  return done(error);
}

int link(const char* from, const char* to) {
  if (outside(from) && outside(to)) return real::link(from, to);
  return serve::linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int symlinkat(const char* target, int dir, const char* path) {
  if (outside(dir, path)) return real::symlinkat(target, dir, path);
  // The kernel copies the target first.
  if (!user_memory::is_text(target)) return fail(-EFAULT);
  if (target[0] == '\0') return fail(-ENOENT);
  if (strnlen(target, PATH_MAX) == PATH_MAX) return fail(-ENAMETOOLONG);
  Found found;
  int error = find_free(dir, path, &found);
  if (error > 0) return real::symlinkat(target, found.dir, found.path);
  if (error == 0 && found.slash) error = -ENOENT;
  if (error == 0) error = job_names::symlink(target, found);
  return done(error);
}

int symlink(const char* target, const char* path) {
  if (outside(path)) return real::symlink(target, path);
  return serve::symlinkat(target, AT_FDCWD, path);
}

// Gives the program a link's text, which `read` writes into a buffer of at most `size` bytes.
template <typename Read>
static ssize_t give_text(char* buffer, size_t size, Read read) {
  char text[PATH_MAX];
  ssize_t length = read(text, size < sizeof text ? size : sizeof text);
  if (length < 0) return fail(length);
  const int error = user_memory::write(buffer, text, static_cast<size_t>(length));
  return error < 0 ? fail(error) : length;
}

// Reads a link that is open itself (O_PATH and O_NOFOLLOW), for an empty path.
static ssize_t read_open_link(const table::Use& use, char* buffer, size_t size) {
  cairn_stat st;
  int error = cairn_fstat(use->file, &st);
  if (error == 0 && !S_ISLNK(st.mode)) error = -ENOENT;
  if (error < 0) return fail(error);
  return give_text(buffer, size, [&](char* text, size_t room) {
    return cairn_readlink(pool, st.ino, "", text, room);
  });
}

// Reads /proc/self/fd/N.
static ssize_t read_descriptor_link(const table::Use& use, char* buffer, size_t size) {
  char path[2 * PATH_MAX];
  long length = fd_path::path_of(use.get(), path, sizeof path);
  if (length < 0) return fail(length);
  auto whole = static_cast<size_t>(length);
  if (whole < size) size = whole;
  const int error = user_memory::write(buffer, path, size);
  return error < 0 ? fail(error) : static_cast<ssize_t>(size);
}

ssize_t readlinkat(int dir, const char* path, char* buffer, size_t size) {
  const int most = static_cast<int>(size);  // the kernel takes it as an int
  if (table::is_covered(dir) && most > 0 && user_memory::is_text(path) && path[0] == '\0') {
    table::Use use(dir);
    if (use) return read_open_link(use, buffer, static_cast<size_t>(most));
  }
  if (outside(dir, path)) return real::readlinkat(dir, path, buffer, size);
  if (most <= 0) return fail(-EINVAL);
  size = static_cast<size_t>(most);
  Found found;
  int error = find_existing(dir, path, CAIRN_NOFOLLOW, &found);
  if (error < 0) return fail(error);
  if (table::Use use(found.descriptor); use && strncmp(found.path, "/dev/std", 8) != 0)
    return read_descriptor_link(use, buffer, size);
  if (found.outside() && self_exe::is_named(found.path))
    return give_text(buffer, size,
                     [](char* text, size_t room) { return program_file::read_link(text, room); });
  if (found.outside()) return real::readlinkat(found.dir, found.path, buffer, size);
  if (!S_ISLNK(found.st.mode)) return fail(-EINVAL);
  return give_text(buffer, size, [&](char* text, size_t room) {
    ssize_t length = cairn_readlink(pool, found.parent, found.name, text, room);
    return length == -ESTALE ? -ENOENT : length;  // its directory was removed
  });
}

ssize_t readlink(const char* path, char* buffer, size_t size) {
  if (outside(path)) return real::readlink(path, buffer, size);
  return serve::readlinkat(AT_FDCWD, path, buffer, size);
}

}  // namespace posix::serve
