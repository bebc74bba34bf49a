// What a call asks of the job on several hosts that this process is one of.
#pragma once

#include "posix/find.h"

namespace posix::shared_names {

// The job for as long as a call needs it; null: there is none for this thread. What an MPI does by calls of ours while it is asked
// is answered by what the pool has; so is a signal's handler, which may have interrupted the MPI.
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

}  // namespace posix::shared_names
