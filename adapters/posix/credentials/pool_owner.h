// PoolOwner keeps the pool's own files in reach of a process that becomes another user.
//
// A pool is private to its user: the kernel lets no other user search its directory or open its
// lock file. A daemon starts as root and drops root later. It needs the lock file afterwards, for
// each child that it forks (liveness.h) and for each mapping. Two ways lead there:
//
// - The process can become the pool's user again (it has called seteuid). One thread opens the file
//   as that user, for one call (setfsuid).
// - The process cannot. Before the change it opens the lock file many times. It keeps these
//   descriptions in the queue of a pair of sockets, which its children share. Each description is
//   received once, so no other process holds it. A child or a mapping uses one up; a call that only
//   looked at locks puts its description back.
//
// Locks of files (companions), FIFOs and sockets lie in two directories inside the pool. The
// process opens both before the change and allows every user to use them. The pool's own directory
// stays closed, so only a process with such a descriptor gets there.
//
// None of this gives a process more than it has: it has the whole pool mapped. Permissions of files
// in the pool are checked on each call, for the new user (permission.h).
#pragma once

#include <errno.h>
#include <sys/types.h>

#include <atomic>

namespace posix::pool_owner {

// Notes that this process has attached: the pool belongs to the present user.
void attached();

// Call it before the process gets these users; -1: this one does not change. Attaches, and opens
// what the new user could not open.
void before_change(uid_t real, uid_t effective, uid_t saved);

// Returns true if the caller is another user than the pool's.
bool is_other();
// Returns true if this is the pool's user, or root.
bool is_trusted(uid_t user);

// Lets this thread open files as the pool's user while it lives, if the process can become that
// user.
class Acting {
 public:
  Acting();
  ~Acting();
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;
  explicit operator bool() const { return acting_; }

 private:
  uid_t before_ = 0;
  bool acting_ = false;
};

// Returns a descriptor in place of one that the kernel refused to the engine, or -1 and EACCES.
int open_kept(const char* path);
// Says once that no descriptor is left. Returns -1 and EACCES.
int refused(const char* path);

// Opens a file as the engine calls open(2).
template <typename Call>
int open_for_engine(const char* path, Call call) {
  const int before = errno;
  int fd = call();
  if (__builtin_expect(fd >= 0 || errno != EACCES, 1)) return fd;
  fd = open_kept(path);
  if (fd < 0 && errno == EACCES) {
    const Acting as_owner;
    fd = as_owner ? call() : refused(path);
  }
  if (fd >= 0) errno = before;
  return fd;
}

// True once the queue was empty in this process, or in one that it descends from.
extern std::atomic<bool> used_up;

// Puts a descriptor of open_kept() that the engine is about to close back into the queue, unless it
// keeps a lock.
extern std::atomic<int> lent;
void put_back(int fd);
inline void closing(int fd) {
  if (__builtin_expect(lent.load(std::memory_order_relaxed) > 0, 0)) put_back(fd);
}

// Returns the directory of FIFOs and sockets, as it was opened before a change, or -1 if it was
// not.
int links();

// Notes that the process forks: the child gets the lent descriptors, too.
void forking();

// Releases, in the child of a fork, what another thread of the parent held.
void after_fork();

}  // namespace posix::pool_owner
