// What a call asks of the job on several hosts that this process is one of.
#pragma once

#include <atomic>

#include "posix/core/engine.h"

namespace posix::job_files {

extern constinit std::atomic<cairn_job*> job;  // null: there is none
inline bool active() { return __builtin_expect(job.load(std::memory_order_relaxed) != nullptr, 0); }

// Do calls of this thread see what the pool has, and nothing else? Returns what was before.
bool hide(bool hide);
class Hidden {
 public:
  Hidden() : before_(hide(true)) {}
  ~Hidden() { hide(before_); }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

 private:
  bool before_;
};

// The job for as long as a call needs it; null: there is none for this thread. What an MPI does by
// calls of ours while it is asked is answered by what the pool has; so is a signal's handler, which
// may have interrupted the MPI.
class Asking {
 public:
  Asking();
  ~Asking();
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  explicit operator bool() const { return job_ != nullptr; }
  cairn_job* get() const { return job_; }

 private:
  bool hides_;
  cairn_job* job_ = nullptr;
};

// Returns when no call uses a job that is no longer `job`.
void wait_for_users();
// In the child of a fork: the calls are its parent's.
void forget_users();

}  // namespace posix::job_files
