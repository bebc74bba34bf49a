// cairn bench: starts the Python program of the same installation, lib/cairn/python/cairn_bench.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "process/preload.h"
#include "process/run_child.h"
#include "text/error.h"
#include "text/output.h"

namespace cairn::cli {
namespace {

// The directory lib/cairn beside the preloaded library.
std::string own_library_directory() {
  const auto library = find_preload();
  if (!library) fail("libcairn_posix.so is missing: it belongs in ../lib beside this command");
  return library->substr(0, library->rfind('/')) + "/cairn";
}

std::string own_path() {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) fail("/proc/self/exe: {}", std::strerror(errno));
  return {self, static_cast<size_t>(length)};
}

// -I ignores PYTHONHOME, without which some Pythons of module systems do not find their own
// modules.
void check_start_without_home(const std::string& python) {
  const char* home = std::getenv("PYTHONHOME");
  if (home == nullptr || *home == '\0') return;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  std::string words[] = {"python3", "-I", "-c", "pass"};
  char* const pointers[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                            nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, python.c_str(), &actions, nullptr, pointers, environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) != child || status == 0) return;
  fail(
      "{}: does not start without PYTHONHOME ({}), which cairn bench ignores; unset it, and put "
      "another python3 first in PATH",
      python, home);
}

int bench_command(const std::vector<std::string>& words) {
  const std::string library = own_library_directory();
  const std::string modules = library + "/python";
  const std::string start = modules + "/cairn_bench/start.py";
  if (access(start.c_str(), R_OK) != 0)
    fail("{}/cairn_bench: missing; build and install Cairn with CAIRN_BENCH=ON", modules);
  const std::string python = find_in_absolute_path("python3");
  if (python.empty())
    fail(
        "python3: not found; cairn bench needs Python 3.10 or newer in an absolute directory of "
        "PATH");
  check_start_without_home(python);
  setenv("CAIRN_BENCH_LIB", library.c_str(), 1);
  setenv("CAIRN_BENCH_COMMAND", own_path().c_str(), 1);
  // -I: nothing is imported from the current directory. start.py puts back what the user named.
  std::vector<std::string> arguments = {"python3", "-I", "-B", start};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  flush_output();
  execv(python.c_str(), pointers.data());
  fail("{}: {}", python, std::strerror(errno));
}

}  // namespace

void add_bench_command(CLI::App& root, Context& context) {
  CLI::App* bench = add_command(
      root, context, "bench", "Run I/O kernels on several systems, and show what each gives.",
      "`run` reads a matrix of systems and kernels, and runs every cell in several rounds. It "
      "writes each repetition to results.jsonl and makes report.html. MATRIX is a YAML file, or "
      "the name of a ready one: bench, tokio-abc-small. `report` makes the page again from "
      "results. `compare` prints ratios of two runs, or of two systems of one run. `submit` runs "
      "a matrix as a job of Slurm. `kernels` lists the kernels that a matrix may name. `add` puts "
      "the judged tables of the source tree to results.\n\n"
      "  cairn bench run tokio-abc-small --dry-run\n"
      "  cairn bench run bench --quick --output DIR\n"
      "  cairn bench run matrix.yaml --scale 0.25 --only 'hacc on'\n"
      "  cairn bench run --resume DIR\n"
      "  cairn bench report DIR\n"
      "  cairn bench kernels ior\n"
      "  cairn bench compare DIR DIR --fail-if 'ratio<0.9'\n\n"
      "`cairn bench run -h` lists the options of run. The command needs python3 with PyYAML and "
      "jsonschema, and an MPI. Exit code: 0 if all cells ran and their data were right; 1 if a "
      "cell failed, hung or had wrong data, or a rule of --fail-if holds; 2 for a mistake in the "
      "matrix or the options; 130 "
      "after Ctrl-C, which keeps the finished repetitions.");
  bench->callback(
      [&context] { context.action = [&context] { return bench_command(context.program); }; });
}

}  // namespace cairn::cli
