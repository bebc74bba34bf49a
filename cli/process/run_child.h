// Starting a program and passing signals on to it, as a shell's `exec` would look from outside.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cairn::cli {

struct ChildResult {
  int exit_code = 0;  // the program's own, 126, 127, or 128 + signal
  std::string error;  // why it could not be started
  int status = 0;     // as waitpid gives it
};

// The file that `program` means, looked for in PATH as execvp does; "" if there is none.
std::string find_program(const std::string& program);
// A program that the command itself starts. An empty or relative entry of PATH means the current
// directory, in which others may have put a program of this name: it does not count.
std::string find_in_absolute_path(const std::string& name);

// Runs a program with changed environment variables until it ends. SIGINT, SIGTERM and SIGHUP are
// passed on, unless the terminal has sent them to the program already, or they were ignored when we
// started. `inside`: the program's file lies in the covered directory, so that the preloaded
// library has to start it.
ChildResult run_child(const std::vector<std::string>& program,
                      const std::vector<std::pair<std::string, std::string>>& environment,
                      bool inside);

// `cairn --start-in-cover PROGRAM ...`: the process in which the library, preloaded, does so.
bool is_start_in_cover(int argc, char** argv);
int start_in_cover(char** argv);

}  // namespace cairn::cli
