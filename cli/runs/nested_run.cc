#include "runs/nested_run.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "process/process.h"
#include "text/output.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

using namespace std::chrono_literals;

// Ranks that end one after the other all end within this time.
constexpr auto most_wait_for_unseen = 60s;

bool has_open(int pid, const struct stat& file) {
  const std::string directory = fmt::format("/proc/{}/fd", pid);
  DIR* all = opendir(directory.c_str());
  if (all == nullptr) return false;
  bool found = false;
  while (const dirent* entry = readdir(all)) {
    struct stat st {};
    found = found || (entry->d_name[0] != '.' && fstatat(dirfd(all), entry->d_name, &st, 0) == 0 &&
                      st.st_dev == file.st_dev && st.st_ino == file.st_ino);
  }
  closedir(all);
  return found;
}

// The processes that hold a lock on the file, as far as the kernel shows them in this namespace.
std::vector<int> holders(const std::string& path) {
  std::vector<int> found;
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return found;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    // "7: FLOCK  ADVISORY  READ 1234 00:1b:5785273 0 EOF"; a process that waits has "->" before
    // FLOCK. The device can differ from that of stat().
    std::istringstream words(line);
    std::string number, kind, advisory, mode, file;
    int pid = 0;
    words >> number >> kind >> advisory >> mode >> pid >> file;
    if (kind == "FLOCK" && file.ends_with(fmt::format(":{}", st.st_ino)) && pid != getpid())
      found.push_back(pid);
  }
  return found;
}

// Interrupts a wait in the kernel once a second.
class Ticks {
 public:
  Ticks() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, &before_);
    set(1);
  }
  ~Ticks() {
    set(0);
    sigaction(SIGALRM, &before_, nullptr);
  }
  Ticks(const Ticks&) = delete;
  Ticks& operator=(const Ticks&) = delete;

 private:
  static void set(int seconds) {
    const itimerval timer{{seconds, 0}, {seconds, 0}};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  struct sigaction before_ {};
};

}  // namespace

std::string this_run() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return fmt::format("{}:{}:{}", host, getpid(), start_of(getpid()));
}

bool named_by_environment() {
  const char* value = std::getenv("CAIRN_RUN");
  const std::string outer = value == nullptr ? "" : value;
  const std::string self = this_run();
  const auto behind_host = [](const std::string& run) {
    const size_t start = run.rfind(':');
    return start == std::string::npos || start == 0 ? start : run.rfind(':', start - 1);
  };
  const size_t colon = behind_host(outer);
  if (colon == std::string::npos || outer.substr(0, colon) != self.substr(0, behind_host(self)))
    return false;
  const size_t start = outer.rfind(':');
  const int pid = process_number(outer.substr(colon + 1, start - colon - 1));
  const uint64_t started = pid > 0 ? start_of(pid) : 0;
  // Another process that has got the number since has started later.
  return started != 0 && outer.substr(start + 1) == std::to_string(started);
}

bool descends_from_run(const std::string& lock_path) {
  struct stat lock {};
  if (stat(lock_path.c_str(), &lock) != 0) return false;  // there was no run yet
  for (int pid = parent_of(getpid()); pid > 0; pid = parent_of(pid))
    if (has_open(pid, lock)) return true;
  return false;
}

Wait wait_to_be_last(PlaceLock& running, const std::string& directory) {
  const auto start = std::chrono::steady_clock::now();
  const Ticks ticks;
  bool reported = false;
  bool unseen = false;
  const auto go_on = [&] {
    const auto waited = std::chrono::steady_clock::now() - start;
    if (waited < 2s) return true;
    const auto others = holders(running.path());
    unseen = others.empty();
    if (!reported) {
      std::string who;
      for (int pid : others) who += fmt::format("{} {}", who.empty() ? ": process" : ",", pid);
      tell("cairn run: waiting for other runs in {} to end{}\n", directory,
           unseen ? ", which cannot be seen from here" : who);
    }
    reported = true;
    return !unseen || waited < most_wait_for_unseen;
  };
  if (running.change(PlaceLock::Mode::exclusive, go_on)) return Wait::last;
  return unseen ? Wait::left : Wait::interrupted;
}

Wait be_last_or_leave(PlaceLock& running) {
  return running.change(PlaceLock::Mode::exclusive, false) ? Wait::last : Wait::left;
}

}  // namespace cairn::cli
