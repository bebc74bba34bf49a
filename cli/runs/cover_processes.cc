#include "runs/cover_processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <sstream>
#include <thread>

#include "text/units.h"

namespace cairn::cli {
namespace {

using namespace std::chrono_literals;

constexpr const char* library_name = "libcairn_posix.so";

// A process, identified by its open directory in /proc: a later process with the same number has
// another one.
class Process {
 public:
  explicit Process(int pid)
      : directory_(open(fmt::format("/proc/{}", pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  }
  ~Process() {
    if (directory_ >= 0) close(directory_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The text of a file of the process; "" if it has ended, or this user may not read the file.
  [[nodiscard]] std::string text(const char* name) const {
    // The process decides how long these files are. No usual environment or list of mappings is
    // longer than this.
    constexpr size_t most = 64 << 20;
    std::string text;
    const int file = openat(directory_, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return text;
    char piece[1 << 14];
    ssize_t count = 0;
    while (text.size() < most && (count = read(file, piece, sizeof piece)) != 0) {
      if (count < 0 && errno != EINTR) break;
      if (count > 0) text.append(piece, static_cast<size_t>(count));
    }
    close(file);
    return text;
  }

  // Are real and effective user this user? In a set-user-ID program they differ. The loader
  // preloads nothing there, and the user who started the program may stop it without end.
  [[nodiscard]] bool is_of_this_user() const {
    std::istringstream status(text("status"));
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("Uid:")) continue;
      std::istringstream users(line.substr(4));
      uid_t real = 0;
      uid_t effective = 0;
      return users >> real >> effective && real == geteuid() && effective == geteuid();
    }
    return false;
  }

  // Does `path` lead the process to the same file as `pool` leads this one? If unknown, yes.
  [[nodiscard]] bool names_pool(const std::string& path, const std::string& pool) const {
    if (path.empty() || path == pool) return true;
    struct stat theirs {};
    struct stat ours {};
    if (stat(pool.c_str(), &ours) != 0) return true;
    // A container has its own root directory.
    if (fstatat(directory_, ("root" + path).c_str(), &theirs, 0) != 0)
      return errno != ENOENT && errno != ENOTDIR;
    if (S_ISCHR(ours.st_mode) && S_ISCHR(theirs.st_mode)) return ours.st_rdev == theirs.st_rdev;
    return ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
  }

 private:
  int directory_;
};

// The environment a process was started with: "\0NAME=value\0NAME=value\0"; "" if it cannot be
// read.
std::string environment_of(const Process& process) {
  const std::string text = process.text("environ");
  return text.empty() ? "" : '\0' + text;
}

bool names_cover(const std::string& environment, const std::string& directory) {
  const std::string entry = std::string("\0CAIRN_COVER=", 13) + directory + '\0';
  return environment.find(entry) != std::string::npos;
}

std::string value_in(const std::string& environment, const std::string& name) {
  const size_t at = environment.find('\0' + name + '=');
  if (at == std::string::npos) return "";
  const size_t from = at + name.size() + 2;
  return environment.substr(from, environment.find('\0', from) - from);
}

bool may_attach(int pid, const std::string& directory, const std::string& pool) {
  const Process process(pid);
  if (!process.is_of_this_user()) return false;
  // A process in execve() may show its old environment, and no mappings of the new program yet. So
  // a process without the library is looked at twice.
  for (const bool again : {true, false}) {
    const std::string environment = environment_of(process);
    if (!names_cover(environment, directory) ||
        value_in(environment, "LD_PRELOAD").find(library_name) == std::string::npos ||
        !process.names_pool(value_in(environment, "CAIRN_POOL"), pool))
      return false;
    const std::string maps = process.text("maps");
    if (maps.empty() || carries_library(maps) != Carries::nothing) return true;
    if (again) std::this_thread::sleep_for(2ms);
  }
  return false;
}

}  // namespace

bool may_use_cover(int pid, const std::string& directory) {
  const std::string environment = environment_of(Process(pid));
  return environment.empty() || names_cover(environment, directory);
}

Carries carries_library(const std::string& maps) {
  bool has_loader = false;
  bool has_libraries = false;
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    // "7f1c8a000000-7f1c8a022000 r--p 00000000 fe:01 1234  /usr/lib/libc.so.6"
    const size_t path = line.find('/');
    if (path == std::string::npos) continue;
    const std::string name = line.substr(line.rfind('/') + 1);
    if (name.starts_with(library_name)) return Carries::library;
    if (name.starts_with("ld-") || name.starts_with("ld.so") || name.starts_with("ld64."))
      has_loader = true;
    else if (name.find(".so") != std::string::npos)
      has_libraries = true;
  }
  // The loader maps preloaded libraries before all others.
  return has_loader && !has_libraries ? Carries::perhaps : Carries::nothing;
}

std::vector<int> processes_that_may_attach(const std::string& directory, const std::string& pool) {
  std::vector<int> found;
  DIR* all = opendir("/proc");
  if (all == nullptr) return found;
  while (const dirent* entry = readdir(all)) {
    const int pid = process_number(entry->d_name);
    if (pid <= 0 || pid == getpid()) continue;
    if (may_attach(pid, directory, pool)) found.push_back(pid);
  }
  closedir(all);
  return found;
}

std::string program_name_of(int pid) {
  const std::string name = Process(pid).text("comm");
  return name.substr(0, name.find('\n'));
}

}  // namespace cairn::cli
