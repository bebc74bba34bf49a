#include "tier/killed_at_calls.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace cairn::test {
namespace {

pid_t start(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(60);  // it must not wait for itself
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(99);
  raise(SIGSTOP);
  _exit(work());
}

constexpr int is_call = 0x80;  // PTRACE_O_TRACESYSGOOD

}  // namespace

AtCalls kill_at_call(uint64_t last, const std::function<int()>& work) {
  AtCalls at;
  const pid_t child = start(work);
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
    at.code = 99;
    return at;
  }
  ptrace(PTRACE_SETOPTIONS, child, nullptr,
         PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
  ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  for (;;) {
    // Of this child and its threads only: the test has no other children now.
    const pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) return at;
    if (!WIFSTOPPED(status)) {
      if (thread != child) continue;
      at.ended = WIFEXITED(status);
      at.code = at.ended ? WEXITSTATUS(status) : 0;
      return at;
    }
    int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | is_call)) {
      if (++at.calls == last) kill(child, SIGKILL);
      signal = 0;
    } else if (signal == SIGTRAP || signal == SIGSTOP) {
      signal = 0;  // a thread began
    }
    ptrace(PTRACE_SYSCALL, thread, nullptr, signal);
  }
}

}  // namespace cairn::test
