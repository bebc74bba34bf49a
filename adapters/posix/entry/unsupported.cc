// Refuses calls that are not served on covered files, so that they never act on files below the
// cover.
#include <limits.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/entry/calls.h"
#include "posix/fd/table.h"
#include "posix/io/open.h"
#include "posix/path/covered.h"
#include "posix/path/result.h"

namespace posix {

static bool is_covered(int dir, const char* path) {
  if (path == nullptr || outside(dir, path)) return false;
  CoveredPath spot;
  return locate(dir, path, &spot) == 0 && (spot.cover != nullptr || spot.descriptor >= 0);
}

constexpr unsigned kSpliceFlags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT;

// Returns true if a descriptor is open, and for more than `access`.
static bool may(int fd, int access) {
  table::Use use(fd);
  const int flags = use ? cairn_file_get_flags(use->file) : real::fcntl(fd, F_GETFL, nullptr);
  return flags >= 0 && (flags & O_PATH) == 0 && (flags & O_ACCMODE) != access;
}

namespace serve {

int inotify_add_watch(int watch, const char* path, uint32_t mask) {
  if (!is_covered(AT_FDCWD, path)) return real::inotify_add_watch(watch, path, mask);
  if (table::Use use(watch); use) return fail(is_path(use) ? -EBADF : -EINVAL);
  if (real::fcntl(watch, F_GETFD, nullptr) < 0) return fail(-EBADF);
  return refuse("inotify_add_watch", path, ENOSPC);
}

int fanotify_mark(int watch, unsigned flags, uint64_t mask, int dir, const char* path) {
  if (!is_covered(dir, path) && !table::is_covered(dir))
    return real::fanotify_mark(watch, flags, mask, dir, path);
  if (path != nullptr && !user_memory::is_text(path)) return fail(-EFAULT);
  if (path == nullptr || path[0] == '\0') return refuse_descriptor("fanotify_mark", dir, ENODEV);
  return refuse("fanotify_mark", path, ENODEV);
}

int name_to_handle_at(int dir, const char* path, void* handle, int* mount, int flags) {
  if (!is_covered(dir, path) && !table::is_covered(dir))
    return real::name_to_handle_at(dir, path, handle, mount, flags);
  // File systems without handles return these errors.
  if (!user_memory::is_text(path)) return fail(-EFAULT);
  if (path[0] == '\0') return refuse_descriptor("name_to_handle_at", dir, EOPNOTSUPP);
  return refuse("name_to_handle_at", path, EOPNOTSUPP);
}

ssize_t tee(int from, int to, size_t size, unsigned flags) {
  if (!table::is_covered(from) && !table::is_covered(to)) return real::tee(from, to, size, flags);
  if ((flags & ~kSpliceFlags) != 0) return fail(-EINVAL);
  if (size == 0) return 0;
  if (!may(from, O_WRONLY) || !may(to, O_RDONLY)) return fail(-EBADF);
  return refuse_descriptor("tee", table::is_covered(from) ? from : to, EINVAL);
}

ssize_t vmsplice(int fd, const struct iovec* vector, size_t count, unsigned flags) {
  if (!table::is_covered(fd)) return real::vmsplice(fd, vector, count, flags);
  return refuse_descriptor("vmsplice", fd, EBADF);
}

static int give(void* to, int number) {
  const int error = user_memory::write(to, number);
  return error < 0 ? fail(error) : 0;
}

int ioctl(int fd, unsigned long request, void* argument) {
  table::Use use(fd);
  if (!use) return real::ioctl(fd, request, argument);
  if (is_path(use) && request != FIOCLEX && request != FIONCLEX) return fail(-EBADF);
  switch (request) {
    case FIOCLEX:
      return real::fcntl(fd, F_SETFD, reinterpret_cast<void*>(intptr_t{FD_CLOEXEC}));
    case FIONCLEX:
      return real::fcntl(fd, F_SETFD, nullptr);
    case FIONBIO:
    case FIOASYNC:
      return user_memory::is_readable(argument, sizeof(int)) ? 0 : fail(-EFAULT);
    case FS_IOC_GETFLAGS:
      return give(argument, 0);  // no attribute that chattr could set
    case FS_IOC_SETFLAGS: {
      int flags;
      if (int error = user_memory::read(&flags, argument); error < 0) return fail(error);
      return flags == 0 ? 0 : fail(-EOPNOTSUPP);
    }
    case FS_IOC_FIEMAP:
      return fail(-EOPNOTSUPP);
    case FICLONE:
    case FICLONERANGE:
      return fail(-EOPNOTSUPP);
    case FIGETBSZ:
      return give(argument, 4096);
    case FIONREAD: {
      cairn_stat st;
      int error = cairn_fstat(use->file, &st);
      if (error < 0) return fail(error);
      if (!S_ISREG(st.mode)) return fail(-ENOTTY);
      int64_t left = static_cast<int64_t>(st.size) - cairn_seek(use->file, 0, SEEK_CUR);
      return give(argument, left < 0 ? 0 : left > INT_MAX ? INT_MAX : static_cast<int>(left));
    }
    default:
      return fail(-ENOTTY);
  }
}

// Returns -ENOTTY for a file of ours, -EBADF if it is open as a path only, and 0 for other files.
static int no_terminal(int fd) {
  table::Use use(fd);
  if (!use) return 0;
  return is_path(use) ? -EBADF : -ENOTTY;
}

int isatty(int fd) {
  int error = no_terminal(fd);
  if (error == 0) return real::isatty(fd);
  errno = -error;
  return 0;
}

#define OF_TERMINAL(result, name, parameters, arguments)    \
  result name parameters {                                  \
    int error = no_terminal(fd);                            \
    return error == 0 ? real::name arguments : fail(error); \
  }
OF_TERMINAL(int, tcgetattr, (int fd, struct termios* settings), (fd, settings))
OF_TERMINAL(int, tcsetattr, (int fd, int when, const struct termios* settings),
            (fd, when, settings))
OF_TERMINAL(int, tcsendbreak, (int fd, int duration), (fd, duration))
OF_TERMINAL(int, tcdrain, (int fd), (fd))
OF_TERMINAL(int, tcflush, (int fd, int queue), (fd, queue))
OF_TERMINAL(int, tcflow, (int fd, int action), (fd, action))
OF_TERMINAL(pid_t, tcgetpgrp, (int fd), (fd))
OF_TERMINAL(int, tcsetpgrp, (int fd, pid_t group), (fd, group))
OF_TERMINAL(pid_t, tcgetsid, (int fd), (fd))

int ttyname_r(int fd, char* name, size_t room) {
  int error = no_terminal(fd);
  return error == 0 ? real::ttyname_r(fd, name, room) : -error;
}

char* ttyname(int fd) {
  int error = no_terminal(fd);
  if (error == 0) return real::ttyname(fd);
  fail(error);
  return nullptr;
}

}  // namespace serve
}  // namespace posix
