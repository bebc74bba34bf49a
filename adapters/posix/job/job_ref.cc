#include "posix/job/job_ref.h"

#include <sched.h>

namespace posix::job_files {

constinit std::atomic<cairn_job*> job{nullptr};
static std::atomic<int> users{0};
static __thread bool hidden;

void wait_for_users() {
  while (users != 0) sched_yield();
}

void forget_users() { users = 0; }

bool hide(bool hide) {
  const bool before = hidden;
  hidden = hide;
  return before;
}

Asking::Asking() : hides_(!hidden && !engine::is_in_handler()) {
  if (!hides_) return;
  ++users;
  job_ = job;
  hidden = true;
}

Asking::~Asking() {
  if (!hides_) return;
  hidden = false;
  --users;
}

}  // namespace posix::job_files
