#include "engine/fork.h"

#include <errno.h>
#include <pthread.h>

#include "engine/allocator.h"
#include "engine/guarded.h"
#include "engine/hooks.h"
#include "engine/log.h"

namespace engine {
namespace {

cairn_pool* watched;

void before_fork() {
  int error = errno;
  Inside::enter();  // until after the fork: the pool is held still
  hooks::run(hooks::before_fork);
  if (cairn_fork_prepare(watched) < 0)
    log_few("a process started here may not reach covered files: ", cairn_last_error());
  errno = error;
}

void in_parent() {
  cairn_fork_parent(watched);
  hooks::run(hooks::in_parent);
  Inside::leave();
}

void in_child() {
  int error = errno;
  memory::after_fork();
  cairn_fork_child(watched);
  hooks::run(hooks::in_child);
  Inside::leave_in_child();
  errno = error;
}

}  // namespace

void watch_forks(cairn_pool* pool) {
  if (watched == nullptr) pthread_atfork(before_fork, in_parent, in_child);
  watched = pool;
}

}  // namespace engine
