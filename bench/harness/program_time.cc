#include "harness/program_time.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "harness/pools.h"

namespace cairn::bench {

ProgramRun run_program(const char* const arguments[], bool preloaded) {
  std::vector<char*> environment;
  for (char** e = environ; *e != nullptr; ++e) {
    if (preloaded || std::strncmp(*e, "LD_PRELOAD=", 11) != 0) environment.push_back(*e);
  }
  environment.push_back(nullptr);
  const auto child = static_cast<pid_t>(syscall(SYS_fork));
  must_posix(child, "fork");
  if (child == 0) {
    syscall(SYS_execve, arguments[0], arguments, environment.data());
    syscall(SYS_exit_group, 127);
  }
  int status = 0;
  rusage usage = {};
  must_posix(wait4(child, &status, 0, &usage), "wait4");
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return {status, ns(usage.ru_utime) + ns(usage.ru_stime)};
}

}  // namespace cairn::bench
