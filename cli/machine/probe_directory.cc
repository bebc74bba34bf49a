#include "machine/probe_directory.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

namespace cairn::cli {

bool answers_soon(const std::string& directory) {
  using namespace std::chrono_literals;
  const pid_t asking = fork();
  if (asking < 0) return true;  // unknown; the caller's own access finds out
  if (asking == 0) {
    open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _exit(0);
  }
  const auto until = std::chrono::steady_clock::now() + 2s;
  auto pause = 1ms;
  while (waitpid(asking, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      kill(asking, SIGKILL);
      return false;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, 50ms);
  }
  return true;
}

}  // namespace cairn::cli
