#include "process/run_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "machine/own_size_limit.h"
#include "text/error.h"
#include "text/output.h"
#include "text/progress.h"

namespace cairn::cli {
namespace {

constexpr const char* start_flag = "--start-in-cover";
// Signals that a batch system or a user sends to a program (Slurm's --signal=USR1), and that would
// end this process before the program.
constexpr std::array passed_on = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,   SIGUSR1,
                                  SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF};

bool asks_to_end(int number) {
  return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

volatile pid_t child = 0;
volatile std::sig_atomic_t pending = 0;  // a signal that came before the child was started

void pass_on(int number, siginfo_t* info, void* /*context*/) {
  // The program gets some of the kernel's signals by itself: a terminal sends them to the whole
  // foreground group, and the limit to processor time counts for each process. Others, such as an
  // alarm that was set before the run, are passed on.
  const bool is_ours =
      number != SIGINT && number != SIGQUIT && number != SIGHUP && number != SIGXCPU;
  if (info != nullptr && info->si_code == SI_KERNEL && !is_ours) return;
  if (child > 0)
    kill(child, number);
  else
    pending = number;
}

class SignalsPassedOn {
 public:
  SignalsPassedOn() {
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (size_t i = 0; i < passed_on.size(); ++i) {
      sigaction(passed_on[i], nullptr, &before_[i]);
      // Ignored signals stay ignored (nohup, background jobs of shells).
      if (before_[i].sa_handler != SIG_IGN) sigaction(passed_on[i], &action, nullptr);
    }
  }
  // When the program has ended, signals that are meant for it are ignored, so that they do not end
  // a drain.
  ~SignalsPassedOn() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (size_t i = 0; i < passed_on.size(); ++i)
      sigaction(passed_on[i], asks_to_end(passed_on[i]) ? &before_[i] : &ignore, nullptr);
  }
  SignalsPassedOn(const SignalsPassedOn&) = delete;
  SignalsPassedOn& operator=(const SignalsPassedOn&) = delete;
  void restore() const {
    for (size_t i = 0; i < passed_on.size(); ++i) sigaction(passed_on[i], &before_[i], nullptr);
  }

 private:
  std::array<struct sigaction, passed_on.size()> before_{};
};

int code_of(int errno_value) {
  return errno_value == ENOENT || errno_value == ENOTDIR ? exit_not_found : exit_not_executable;
}

// Pointers to the words, valid as long as these.
std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words)
    result.push_back(const_cast<char*>(word.c_str()));  // exec does not change them
  result.push_back(nullptr);
  return result;
}

ChildResult wait_for_child() {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail("waiting for the program: {}", std::strerror(errno));
  child = 0;
  if (WIFSIGNALED(status)) return {exit_signal + WTERMSIG(status), "", status};
  return {WEXITSTATUS(status), "", status};
}

}  // namespace

namespace {

// The first file of this name in PATH that may be executed, else the first one that may not be.
// `absolute`: of PATH's directories only those with an absolute path count.
std::string find_in_path(const std::string& name, bool absolute) {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "/bin:/usr/bin" : path;
  std::string found;
  for (rest += ':'; !rest.empty(); rest.erase(0, rest.find(':') + 1)) {
    std::string directory = rest.substr(0, rest.find(':'));
    if (absolute && !directory.starts_with('/')) continue;
    if (directory.empty()) directory.assign(1, '.');
    std::string candidate = directory;
    candidate.append("/").append(name);
    struct stat st {};
    if (stat(candidate.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) continue;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    if (found.empty()) found = candidate;
  }
  return found;
}

}  // namespace

std::string find_in_absolute_path(const std::string& name) { return find_in_path(name, true); }

std::string find_program(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return access(program.c_str(), F_OK) == 0 ? program : "";
  return find_in_path(program, false);
}

ChildResult run_child(const std::vector<std::string>& program,
                      const std::vector<std::pair<std::string, std::string>>& environment,
                      bool inside) {
  std::vector<std::string> words = program;
  if (inside) words.insert(words.begin(), {"cairn", start_flag});
  const std::vector<char*> arguments = pointers(words);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) fail("a pipe to the program: {}", std::strerror(errno));

  const SignalsPassedOn signals;
  pending = 0;
  const pid_t started = fork();
  if (started < 0) fail("{}: cannot be started: {}", program.front(), std::strerror(errno));
  if (started == 0) {
    signals.restore();
    restore_size_limit();
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    if (inside)
      execv("/proc/self/exe", arguments.data());
    else
      execvp(arguments[0], arguments.data());
    const int cause = errno;
    if (write(report[1], &cause, sizeof cause) < 0) _exit(code_of(cause));
    _exit(code_of(cause));
  }
  child = started;
  if (const int number = pending; number != 0) kill(started, number);
  close(report[1]);
  int cause = 0;
  ssize_t count = 0;
  do count = read(report[0], &cause, sizeof cause);
  while (count < 0 && errno == EINTR);
  close(report[0]);
  ChildResult result = wait_for_child();
  if (count == sizeof cause)
    result = {code_of(cause),
              fmt::format("{}: {}", program.front(),
                          cause == ENOENT ? "command not found" : std::strerror(cause)),
              0};
  return result;
}

bool is_start_in_cover(int argc, char** argv) {
  return argc >= 3 && std::strcmp(argv[1], start_flag) == 0;
}

int start_in_cover(char** argv) {
  execvp(argv[2], argv + 2);
  const int cause = errno;
  tell("cairn run: {}: {}\n", argv[2],
       cause == ENOENT ? "command not found" : std::strerror(cause));
  return code_of(cause);
}

}  // namespace cairn::cli
