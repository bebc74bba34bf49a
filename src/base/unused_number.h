// Whether the kernel has no process of a number.
//
// A yes is certain: the process that had the number is gone. A no says nothing, because another
// process may have the number now. So this says when something may be cleaned that a dead process
// has left, and never that a process lives: that is what a kernel lock says (media/liveness.h) or,
// where processes have no file in common, number and time of start together.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace cairn {

// Also for kernels before 5.3, which cannot open a process, and containers that forbid it. Of a
// process of another user, kill() says EPERM: it has the number.
inline bool is_unused_for_signals(int process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

inline bool is_unused_number(int process) {
  if (process <= 0) return false;
  const int before = errno;
  const long handle = ::syscall(SYS_pidfd_open, process, 0);
  bool unused = handle < 0 && errno == ESRCH;
  if (handle < 0 && (errno == ENOSYS || errno == EPERM)) unused = is_unused_for_signals(process);
  if (handle >= 0) ::syscall(SYS_close, handle);
  errno = before;
  return unused;
}

}  // namespace cairn
