#include "process/core_dump.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fstream>

#include "text/error.h"

namespace cairn::cli {
namespace {

bool dumps_core(int number) {
  constexpr std::array those = {SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                                SIGFPE,  SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS};
  return std::find(those.begin(), those.end(), number) != those.end();
}

// The signal that ended the program, or 0. A shell says so by its exit code, which does not tell
// whether there is a core dump.
int signal_of(int status) {
  if (WIFSIGNALED(status)) return WTERMSIG(status);
  return WIFEXITED(status) && WEXITSTATUS(status) > exit_signal
             ? WEXITSTATUS(status) - exit_signal
             : 0;
}

bool is_asked_for() {
  struct rlimit limit {};
  return getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur != 0;
}

}  // namespace

std::string missing_core_text(int status, const std::string& program, const std::string& directory,
                              const std::string& pattern) {
  const int number = signal_of(status);
  const bool written = WIFSIGNALED(status) && WCOREDUMP(status);
  const bool elsewhere = pattern.empty() || pattern[0] == '/' || pattern[0] == '|';
  if (!dumps_core(number) || written || elsewhere) return "";
  return fmt::format(
      "{}: ended by signal {} ({}): a process whose working directory is in {} leaves no core "
      "dump, because the kernel bypasses the cover (kernel.core_pattern is \"{}\"); to get one, "
      "set kernel.core_pattern to an absolute path, or run the program from another directory",
      program, number, strsignal(number), directory, pattern);
}

std::string missing_core_text(int status, const std::string& program,
                              const std::string& directory) {
  if (!is_asked_for()) return "";
  std::ifstream file("/proc/sys/kernel/core_pattern");
  std::string pattern;
  std::getline(file, pattern);
  return missing_core_text(status, program, directory, pattern);
}

}  // namespace cairn::cli
