// Tells if the kernel has no process with a number.
//
// A yes is certain: the process that had the number is gone. A no proves nothing, because another
// process may have the number now. So a yes allows to clean up after a dead process, but a no does
// not show that a process lives. A kernel lock shows that (media/liveness.h) or, if processes have
// no file in common, number and time of start together.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace cairn {

// Works on kernels before 5.3, which cannot open a process, and in containers that forbid it. For a
// process of another user, kill() fails with EPERM: that process has the number.
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
