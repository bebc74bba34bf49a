#include "crash/apart.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace cairn::test {

std::string apart(unsigned seconds, const std::function<std::string()>& work) {
  int text[2];
  if (pipe2(text, O_CLOEXEC) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(seconds);
    const std::string result = work().substr(0, 65536);
    const bool told =
        write(text[1], result.data(), result.size()) == static_cast<ssize_t>(result.size());
    _exit(told && !testing::Test::HasFailure() ? 0 : 1);
  }
  close(text[1]);
  if (child < 0) std::abort();
  std::string result;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(text[0], buffer, sizeof buffer)) > 0;)
    result.append(buffer, static_cast<size_t>(n));
  close(text[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return "hangs";
  if (WIFSIGNALED(status)) return died_of_signal + std::to_string(WTERMSIG(status));
  // A sanitizer's, or a failed expectation's.
  if (WEXITSTATUS(status) != 0) result += " and exited with " + std::to_string(WEXITSTATUS(status));
  return result;
}

}  // namespace cairn::test
