#include "harness/worker_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/pools.h"

namespace cairn::bench {
namespace {

double clock_of(pid_t process) {
  clockid_t clock = 0;
  timespec time = {};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// Processor time of the children that the process has waited for, and of theirs.
double waited_for(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');  // the name may have blanks in it
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  constexpr int between = 13;  // state (3) to stime (15); cutime (16) and cstime follow
  for (int i = 0; i < between; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  if (!(fields >> user >> system)) return 0;
  return (user + system) * 1e9 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code error;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    std::ifstream file(task.path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace

double processor_time_of_tree(pid_t root) {
  double total = clock_of(root) + waited_for(root);
  for (const pid_t child : children_of(root)) total += processor_time_of_tree(child);
  return total;
}

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::string cairn_program() {
  return std::filesystem::path(own_program()).parent_path().parent_path() / "bin/cairn";
}

WorkerProgram::WorkerProgram(const std::vector<std::string>& words) : name_(words.front()) {
  int to[2];
  int from[2];
  must_posix(pipe2(to, O_CLOEXEC), "pipe");
  must_posix(pipe2(from, O_CLOEXEC), "pipe");
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  signal(SIGPIPE, SIG_IGN);  // run() names the program that has ended
  pid_ = fork();
  must_posix(pid_, "fork");
  if (pid_ == 0) {
    signal(SIGPIPE, SIG_DFL);
    if (dup2(to[0], STDIN_FILENO) < 0 || dup2(from[1], STDOUT_FILENO) < 0) _exit(2);
    execv(arguments[0], arguments.data());
    std::perror(arguments[0]);
    _exit(2);
  }
  close(to[0]);
  close(from[1]);
  to_ = fdopen(to[1], "we");
  from_ = fdopen(from[0], "re");
  if (to_ == nullptr || from_ == nullptr) must_posix(-1, "fdopen");
}

WorkerProgram::~WorkerProgram() {
  std::fclose(to_);
  int status = 0;
  waitpid(pid_, &status, 0);
  std::fclose(from_);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::fprintf(stderr, "bench: %s: ended with status %d\n", name_.c_str(), status);
  std::exit(2);
}

WorkerProgram::Took WorkerProgram::run(const std::string& work) {
  if (processor_before_ < 0) processor_before_ = processor_time_of_tree(pid_);
  Took took = {};
  if (std::fprintf(to_, "%s\n", work.c_str()) < 0 || std::fflush(to_) != 0 ||
      std::fscanf(from_, "%lf", &took.wall_ns) != 1) {
    std::fprintf(stderr, "bench: %s: no answer to '%s'\n", name_.c_str(), work.c_str());
    std::exit(2);
  }
  const double now = processor_time_of_tree(pid_);
  took.processor_ns = now - processor_before_;
  processor_before_ = now;
  return took;
}

}  // namespace cairn::bench
