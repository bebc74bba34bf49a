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

// This process has attached: the pool is the present user's.
void attached();

// The process is about to get these users; -1: as it is. Attaches, and opens what the new user
// could not open.
void before_change(uid_t real, uid_t effective, uid_t saved);

// Is the caller another user than the pool's?
bool is_other();
// Is this the pool's user, or root?
bool is_trusted(uid_t user);

// While one lives, this thread opens files as the pool's user, if the process can become that user.
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

// A descriptor for what the engine has asked for in vain; -1 and EACCES.
int open_kept(const char* path);
// There is none. Says so, once; -1 and EACCES.
int refused(const char* path);

// open(2), as the engine calls it.
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

// The queue is empty: seen by this process, or by one that it descends from.
extern std::atomic<bool> used_up;

// The engine is about to close a descriptor that open_kept() gave: it goes back into the queue, if
// it keeps no lock.
extern std::atomic<int> lent;
void put_back(int fd);
inline void closing(int fd) {
  if (__builtin_expect(lent.load(std::memory_order_relaxed) > 0, 0)) put_back(fd);
}

// The directory of FIFOs and sockets, as it was opened before a change; -1: there was none.
int links();

// A fork is under way: descriptors that are lent are in the child, too.
void forking();

// Releases, in the child of a fork, what another thread of the parent held.
void after_fork();

}  // namespace posix::pool_owner
