#include "posix/exec/fork.h"

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/exec/calls.h"
#include "posix/fd/table.h"
#include "posix/io/locks.h"
#include "posix/path/covered.h"
#include "posix/path/cwd.h"
#include "posix/path/result.h"

namespace posix {

// Skips descriptors that close on exec: a companion for each would make every fork slower for a
// rare use.
void share_locks() {
  if (table::covered_fds.load() == 0) return;
  int most = table::highest.load();
  for (int fd = 3; fd <= most; ++fd) {
    table::Use use(fd);
    if (!use || use->kind != Kind::kFile || use->lock_fd.load() >= 0) continue;
    int flags = real::fcntl(fd, F_GETFD, nullptr);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) locks::share(use.get());
  }
}

namespace serve {

// Serves vfork, too: a child that shares its parent's memory would share the parent's place in the
// pool, and end both.
pid_t fork() {
  if (!active()) return real::fork();
  // Otherwise the child would wait for ever for a thread that it does not have.
  cwd::Still still;
  return real::fork();
}

pid_t _Fork() {
  if (pool == nullptr) return real::_Fork();
  return refuse("_Fork", nullptr, ENOSYS);
}

}  // namespace serve
}  // namespace posix
