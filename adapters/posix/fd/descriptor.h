// Kernel descriptors of our making.
//
// A Cairn descriptor is a genuine kernel descriptor, O_PATH|O_NOFOLLOW on a symbolic link of ours:
// dup, fcntl, close, fork and exec work on it in the kernel, and a data call on it that did not
// come through us gets EBADF. The link is removed as soon as it is open; its text can still be read
// from the descriptor. All descriptors of a process are duplicates of one (one system call each).
// Where another process is to recognise one that comes through a socket, one is sent in its place
// whose link names pool, slot and generation; after exec, a list says which is which (handover.cc).
//
// Private descriptors belong to the engine and to us. They lie at high numbers and are invisible to
// the program's close, close_range, dup2 and the like. A program that has used up its descriptors
// may still lock, map and exec its files: see Room.
#pragma once

#include <errno.h>
#include <limits.h>
#include <sys/resource.h>

#include "posix/core/engine.h"

namespace posix::descriptor {

// A descriptor for a Cairn file, not in the table yet; -errno. `least` as in F_DUPFD.
int make(bool close_on_exec, int least = 0);

// The descriptor that all others of this process are duplicates of; -errno.
int base();

// One whose link names `file`; -errno. Close-on-exec, at a high number.
int make_named(cairn_file* file);
// What a descriptor of make_named() names; false for every other. Attaches the pool to find out:
// the text alone says nothing, as anybody can make a link with it.
bool read_name(int fd, cairn_file_id* id);
// Was it made here, by this process or another of the pool and of its user?
bool is_ours(int fd);
// Does its link lie in the directory, closed to other users, where this process makes its own? Then
// nobody else can have had it made, by leading a process of ours to make links. False also if the
// sender's mounts are others than this process's.
bool lies_beside_ours(int fd);

// A removed, empty directory; private. -errno.
int guard_directory();

// Moves a descriptor to a high number and makes it private; keeps close-on-exec.
int keep_private(int fd);
// ... but not now: closing the low number would do harm (locks.cc).
extern __thread bool stay_low;
int close_private(int fd);
void forget_private(int fd);

// Room for descriptors of ours while it lives, where the program has left none: the limit is raised
// as far as it goes, or as many as are needed of those that were kept for this are closed.
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
// Keeps some, after one of ours has been closed.
void refill();

// Releases, in the child of a fork, what another thread of the parent held.
void after_fork();

// Private, with room made if it must be. `call` opens.
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
