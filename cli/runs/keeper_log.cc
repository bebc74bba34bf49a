#include "runs/keeper_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>

#include "text/output.h"

namespace cairn::cli {

KeeperLog::KeeperLog(int pipe) : pipe_(pipe) {
  if (pipe_ < 0) return;
  fcntl(pipe_, F_SETFL, O_NONBLOCK);
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (stop_ < 0) return;
  // The thread that waits for the program handles signals.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  reader_ = std::thread([this] { read_lines(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

KeeperLog::~KeeperLog() {
  if (reader_.joinable()) {
    eventfd_write(stop_, 1);
    reader_.join();
  }
  if (stop_ >= 0) close(stop_);
  if (pipe_ >= 0) close(pipe_);
}

void KeeperLog::read_lines() {
  std::string line;
  for (bool is_over = false; !is_over;) {
    pollfd watched[] = {{pipe_, POLLIN, 0}, {stop_, POLLIN, 0}};
    if (poll(watched, 2, -1) < 0) return;
    is_over = watched[1].revents != 0;  // lines that have come are still printed
    char bytes[1024];
    ssize_t n = 0;
    while ((n = read(pipe_, bytes, sizeof bytes)) > 0) {
      for (const char c : std::string(bytes, static_cast<size_t>(n))) {
        if (c == '\n') note("cairn run: " + line);
        c == '\n' ? line.clear() : line.push_back(c);
      }
    }
    is_over = is_over || n == 0;  // the keeper has ended
  }
}

KeeperReports::KeeperReports() {
  fcntl(descriptor, F_SETFL, O_NONBLOCK);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  signal(SIGPIPE, SIG_IGN);
}

void KeeperReports::say(const std::string& text) {
  if (said_ == most) return;
  std::string line = text;
  if (++said_ == most) line += "; this is the last such line: `cairn status` shows later ones";
  line += '\n';
  [[maybe_unused]] const ssize_t n = write(descriptor, line.data(), line.size());
}

}  // namespace cairn::cli
