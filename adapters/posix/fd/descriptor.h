// Kernel descriptors that this library makes.
//
// A Cairn descriptor is a genuine kernel descriptor, O_PATH|O_NOFOLLOW on a symbolic link of ours.
// The kernel serves dup, fcntl, close, fork and exec on it. A data call that did not come through
// this library gets EBADF. The link is removed as soon as it is open; its text can still be read
// from the descriptor. All descriptors of a process are duplicates of one, at one system call each.
// A descriptor that is sent through a socket is replaced by one whose link names pool, slot and
// generation, so that the receiver can recognise it. After exec, a list tells which descriptor is
// which file (handover.cc).
//
// Private descriptors belong to the engine and to this library. They have high numbers. The
// program's close, close_range, dup2 and the like do not see them. A program that has used up its
// descriptors can still lock, map and exec its files (Room).
#pragma once

#include <errno.h>
#include <limits.h>
#include <sys/resource.h>

#include "posix/core/engine.h"

namespace posix::descriptor {

// Makes a descriptor for a Cairn file, which is not in the table yet. `least` as in F_DUPFD.
// Returns a negative errno if it fails.
int make(bool close_on_exec, int least = 0);

// Returns the descriptor that all others of this process duplicate, or a negative errno.
int base();

// Makes a descriptor whose link names `file`, close-on-exec and at a high number. Returns a
// negative errno if it fails.
int make_named(cairn_file* file);
// Reads which file a descriptor of make_named() names. Returns false for all others. Attaches the
// pool to check, because any process can make a link with such a text.
bool read_name(int fd, cairn_file_id* id);
// Returns true if this process made the link, or another process of the pool and of its user.
bool is_ours(int fd);
// Returns true if the link lies in the directory where this process makes its own, and that
// directory is closed to other users. Then no other user can have led a process of ours to make the
// link. Also returns false if the sender has other mounts than this process.
bool lies_beside_ours(int fd);

// Returns a private descriptor of a removed, empty directory, or a negative errno.
int guard_directory();

// Moves a descriptor to a high number and makes it private. Keeps close-on-exec.
int keep_private(int fd);
// Keeps keep_private() from moving the descriptor, where closing the low number would do harm
// (locks.cc).
extern __thread bool stay_low;
int close_private(int fd);
void forget_private(int fd);

// Makes room for `count` descriptors of ours, while it lives, in a program that has used up its
// own. It raises the limit to the hard limit, or closes reserved descriptors.
class Room {
 public:
  explicit Room(int count = 1);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

 private:
  Inside inside_;
  struct rlimit limit_;
  bool raised_ = false;
};
// Opens reserved descriptors again after one of ours has been closed.
void refill();

// Releases, in the child of a fork, what another thread of the parent held.
void after_fork();

// Opens a private descriptor by `call`, and makes room for it if needed.
template <typename Call>
int open_private(Call call) {
  int before = errno;
  int fd = call();
  if (__builtin_expect(fd >= 0 || errno != EMFILE, 1)) return keep_private(fd);
  Room room;
  fd = keep_private(call());
  if (fd >= 0) errno = before;
  return fd;
}

}  // namespace posix::descriptor
