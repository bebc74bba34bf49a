// Installs the program's signal handlers behind the engine's function (engine/deferred_signals.h).
#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/entry/calls.h"
#include "posix/path/covered.h"

namespace posix::serve {

int sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  if (!active()) return real::sigaction(number, action, old);
  return engine::set_handler(number, action, old);
}

// BSD's meaning, which is glibc's: calls restart, and the handler stays installed.
SignalHandler signal(int number, SignalHandler handler) {
  if (!active()) return real::signal(number, handler);
  struct sigaction action = {}, old;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, number);
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  return serve::sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

// System V's meaning: the handler runs once, and the signal is not blocked meanwhile.
SignalHandler sysv_signal(int number, SignalHandler handler) {
  if (!active()) return real::sysv_signal(number, handler);
  struct sigaction action = {}, old;
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  return serve::sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

}  // namespace posix::serve
