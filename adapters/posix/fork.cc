// fork: the C library's own, with the pool told before and after. By pthread_atfork, so that it also
// sees the forks that libraries make by themselves.
#include <pthread.h>

#include "posix/calls.h"
#include "posix/covered.h"
#include "posix/cwd.h"
#include "posix/locks.h"
#include "posix/log.h"
#include "posix/mappings.h"
#include "posix/memory.h"
#include "posix/pool.h"
#include "posix/pool_owner.h"
#include "posix/process.h"
#include "posix/shared_names.h"
#include "posix/signals.h"
#include "posix/table.h"

namespace posix {

// Locks of an open file description are shared with the child, so their descriptor must exist before.
// Descriptors that close on exec are left out: opening a companion for each would make every fork pay for
// what nobody does.
static void share_locks() {
  if (table::covered_fds.load() == 0) return;
  int most = table::highest.load();
  for (int fd = 3; fd <= most; ++fd) {
    table::Use use(fd);
    if (!use || use->kind != Kind::kFile || use->lock_fd.load() >= 0) continue;
    int flags = real::fcntl(fd, F_GETFD, nullptr);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) locks::share(use.get());
  }
}

static void before_fork() {
  int error = errno;
  Inside::enter();  // until after the fork: the pool is held still
  share_locks();
  mappings::hold();
  pool_owner::forking();
  if (cairn_fork_prepare(pool) < 0)
    log_few("a process started here may not reach covered files: ", cairn_last_error());
  errno = error;
}

static void in_parent() {
  cairn_fork_parent(pool);
  mappings::release();
  Inside::leave();
}

static void in_child() {
  int error = errno;
  memory::after_fork();
  cairn_fork_child(pool);
  mappings::release();
  table::after_fork();
  shared_names::after_fork();
  after_fork::free_streams();
  after_fork::free_locks();
  after_fork::free_trees();
  after_fork::free_shells();
  after_fork::free_limit();
  after_fork::free_requests();
  after_fork::free_libraries();
  after_fork::free_pool_owner();
  Inside::leave_in_child();
  errno = error;
}

void watch_forks() {
  static bool watching = false;
  if (!watching) pthread_atfork(before_fork, in_parent, in_child);
  watching = true;
}

namespace serve {

// vfork comes here too: a child that shares its parent's memory would share the parent's place in the
// pool, and end both.
pid_t fork() {
  if (!active()) return real::fork();
  // A child would wait for ever for a thread that it does not have.
  cwd::Still still;
  return real::fork();
}

pid_t _Fork() {
  if (pool == nullptr) return real::_Fork();
  return refuse("_Fork", nullptr, ENOSYS);
}

}  // namespace serve
}  // namespace posix
