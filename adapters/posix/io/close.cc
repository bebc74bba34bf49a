// Closes and duplicates descriptors: the kernel acts first, then the table follows.
#include <cstring>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/permission.h"
#include "posix/fd/standard_streams.h"
#include "posix/fd/table.h"
#include "posix/io/calls.h"
#include "posix/io/locks.h"
#include "posix/io/open.h"
#include "posix/path/covered.h"
#include "posix/path/result.h"

namespace posix {

// Makes the table follow: `to` is now a duplicate of `from`.
static int duplicated(int from, int to) {
  if (to < 0) return to;
  Entry* entry = table::peek(from);
  if (entry == nullptr) return forget_stale_entry(to);
  if (entry->kind == Kind::kPrivate) return to;
  table::Use use(from);
  if (use) {
    table::enter(to, use.get());
  } else {
    forget_stale_entry(to);
  }
  return to;
}

static void leave_table(int fd) {
  table::Use use(fd);
  table::leave(fd);
  if (use) locks::descriptor_closed(use.get());
}

static int bad_descriptor() {
  errno = EBADF;
  return -1;
}

namespace serve {

int close(int fd) {
  Entry* entry = table::peek(fd);
  if (entry == nullptr) {
    int closed = real::close(fd);
    if (static_cast<unsigned>(fd) <= 2 && active()) streams::adopt_standard_fd(fd);
    return closed;
  }
  if (entry->kind == Kind::kPrivate) return bad_descriptor();
  leave_table(fd);
  int closed = real::close(fd);
  if (fd <= 2) streams::adopt_standard_fd(fd);
  return closed;
}

int close_range(unsigned first, unsigned last, int flags) {
  if (!active() || flags != 0 || first > last) return real::close_range(first, last, flags);
  int most = table::highest.load();
  unsigned from = first;
  for (unsigned fd = first; most >= 0 && fd <= static_cast<unsigned>(most) && fd <= last; ++fd) {
    if (table::is_private(static_cast<int>(fd))) {
      if (fd > from) real::close_range(from, fd - 1, 0);
      from = fd + 1;
    } else if (table::peek(static_cast<int>(fd)) != nullptr) {
      serve::close(static_cast<int>(fd));
    }
  }
  return from <= last ? real::close_range(from, last, 0) : 0;
}

void closefrom(int first) {
  serve::close_range(first < 0 ? 0U : static_cast<unsigned>(first), ~0U, 0);
}

int dup(int fd) {
  if (table::is_private(fd)) return bad_descriptor();
  int to = duplicated(fd, real::dup(fd));
  if (to >= 0 && to <= 2 && active()) streams::adopt_standard_fd(to);
  return to;
}

static int duplicate_onto(int fd, int to, int flags, bool three) {
  if (table::is_private(fd)) return bad_descriptor();
  if (table::is_private(to)) {
    errno = EBUSY;
    return -1;
  }
  if (fd == to) return three ? real::dup3(fd, to, flags) : real::dup2(fd, to);
  int error = errno;
  if (table::is_covered(fd) && to >= table::kMost) return bad_descriptor();
  table::Use replaced(to);
  int got = three ? real::dup3(fd, to, flags) : real::dup2(fd, to);
  if (got < 0) return got;
  duplicated(fd, to);
  if (replaced) locks::descriptor_closed(replaced.get());
  if (to <= 2 && active()) streams::adopt_standard_fd(to);
  errno = error;
  return got;
}

int dup2(int fd, int to) { return duplicate_onto(fd, to, 0, false); }
int dup3(int fd, int to, int flags) { return duplicate_onto(fd, to, flags, true); }

// `type` is a number, because a program may have put any into f_owner_ex.
static long set_owner(table::Use& use, int type, pid_t pid) {
  if (type != F_OWNER_TID && type != F_OWNER_PID && type != F_OWNER_PGRP) return -EINVAL;
  int before = errno;
  bool known = pid == 0 || kill(type == F_OWNER_PGRP ? -pid : pid, 0) == 0 || errno != ESRCH;
  errno = before;
  if (!known) return -ESRCH;
  use->owner = pid;
  use->owner_type = type;
  return 0;
}

static int set_flags(table::Use& use, int flags) {
  if ((flags & O_NOATIME) != 0 && (cairn_file_get_flags(use->file) & O_NOATIME) == 0) {
    cairn_stat st;
    int error = cairn_fstat(use->file, &st);
    if (error == 0) error = owns(st);
    if (error < 0) return error;
  }
  return cairn_file_set_flags(use->file, flags);
}

// Refuses a lease, as file systems without leases do. The kernel checks first who owns the file.
static int set_lease(table::Use& use, int fd, int wanted) {
  if (wanted != F_RDLCK && wanted != F_WRLCK && wanted != F_UNLCK) return -EINVAL;
  if (use->kind != Kind::kFile) return -EINVAL;
  cairn_stat st;
  int error = cairn_fstat(use->file, &st);
  if (error == 0 && owns(st) < 0) error = -EACCES;
  if (error < 0) return error;
  if (wanted == F_UNLCK) return -EAGAIN;
  refuse_descriptor("fcntl(F_SETLEASE)", fd, EINVAL);
  return -EINVAL;
}

static long control(table::Use& use, int fd, int command, void* argument) {
  if (command != F_GETFL && (cairn_file_get_flags(use->file) & O_PATH) != 0) return -EBADF;
  switch (command) {
    case F_GETFL: {
      constexpr int kOnlyForOpening = O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC;
      int flags = cairn_file_get_flags(use->file) & ~kOnlyForOpening;
      return (flags & O_PATH) != 0 ? flags
                                   : flags | 0100000;  // O_LARGEFILE, as the kernel shows it
    }
    case F_SETFL:
      return set_flags(use, static_cast<int>(reinterpret_cast<intptr_t>(argument)));
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
      return locks::record(use.get(), fd, command, static_cast<struct flock*>(argument));
    case F_GETOWN:
      return use->owner_type == F_OWNER_PGRP ? -use->owner : use->owner.load();
    case F_SETOWN: {
      auto who = static_cast<int>(reinterpret_cast<intptr_t>(argument));
      if (who == INT_MIN) return -EINVAL;
      return set_owner(use, who < 0 ? F_OWNER_PGRP : F_OWNER_PID, who < 0 ? -who : who);
    }
    case F_GETOWN_EX: {
      const struct f_owner_ex owner = {static_cast<__pid_type>(use->owner_type.load()), use->owner};
      return user_memory::write(argument, owner);
    }
    case F_SETOWN_EX: {
      struct f_owner_ex owner;
      if (int error = user_memory::read(&owner, argument); error < 0) return error;
      int type;
      memcpy(&type, &owner.type, sizeof type);
      return set_owner(use, type, owner.pid);
    }
    case F_GETSIG:
      return use->signal;
    case F_SETSIG: {
      auto number = reinterpret_cast<intptr_t>(argument);
      if (number < 0 || number > _NSIG - 1) return -EINVAL;
      use->signal = static_cast<int>(number);
      return 0;
    }
    case F_GETPIPE_SZ:
    case F_SETPIPE_SZ:
      return -EBADF;
    case F_NOTIFY:
      // A request for no events cancels the notice; there is none to cancel.
      if (use->kind != Kind::kDirectory) return -ENOTDIR;
      if ((reinterpret_cast<uintptr_t>(argument) & 0x7fffffff) == 0) return 0;
      refuse_descriptor("fcntl(F_NOTIFY)", fd, EINVAL);
      return -EINVAL;
    case F_GETLEASE:
      return F_UNLCK;
    case F_SETLEASE:
      return set_lease(use, fd, static_cast<int>(reinterpret_cast<intptr_t>(argument)));
    default:
      return -EINVAL;  // seals and other commands do not apply to our files
  }
}

int fcntl(int fd, int command, void* argument) {
  if (table::peek(fd) == nullptr) {
    int got = real::fcntl(fd, command, argument);
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) forget_stale_entry(got);
    return got;
  }
  if (table::is_private(fd)) return bad_descriptor();
  switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC: {
      int to = duplicated(fd, real::fcntl(fd, command, argument));
      if (to >= 0 && to <= 2) streams::adopt_standard_fd(to);
      return to;
    }
    case F_GETFD:
    case F_SETFD:
      return real::fcntl(fd, command, argument);
    default:
      break;
  }
  table::Use use(fd);
  if (!use) return real::fcntl(fd, command, argument);
  return static_cast<int>(result(control(use, fd, command, argument)));
}

}  // namespace serve
}  // namespace posix
