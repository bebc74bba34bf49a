#include "process/relay_output.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/lib-names.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "text/output.h"

namespace cairn::cli {
namespace {

// Finds a function of the C library itself. The preloaded one does not show the kernel's files.
template <typename Call>
Call own_call(const char* name) {
  static void* const libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
  return libc == nullptr ? nullptr : reinterpret_cast<Call>(dlsym(libc, name));
}

// Does the descriptor belong to a covered file? For the kernel that is an O_PATH descriptor.
bool is_covered(int descriptor) {
  static auto* const control = own_call<int (*)(int, int, ...)>("fcntl");
  const int flags = control == nullptr ? -1 : control(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_PATH) != 0;
}

// Copies some bytes. False: there are no more, or they cannot be written; `*error` says why.
bool copy_piece(int from, int to, int* error) {
  std::array<char, 1 << 16> piece;
  ssize_t got = 0;
  do got = read(from, piece.data(), piece.size());
  while (got < 0 && errno == EINTR);
  for (ssize_t done = 0; done < got;) {
    const ssize_t put = write(to, piece.data() + done, static_cast<size_t>(got - done));
    if (put < 0 && errno != EINTR) {
      *error = errno;
      return false;
    }
    if (put > 0) done += put;
  }
  return got > 0;
}

volatile pid_t command = 0;
void pass_signal(int number) {
  const int before = errno;
  if (command > 0) kill(command, number);
  errno = before;
}

struct Stream {
  bool covered = false;
  int pipe[2] = {-1, -1};
};

// Makes the command's end of each pipe its standard stream, for the kernel.
void become_command(const std::array<Stream, 3>& streams) {
  auto* const duplicate = own_call<int (*)(int, int)>("dup2");
  for (int i = 0; i < 3; ++i)
    if (streams[i].covered) duplicate(streams[i].pipe[i == STDIN_FILENO ? 0 : 1], i);
}

[[noreturn]] void end_as(int status) {
  if (WIFSIGNALED(status)) {
    std::signal(WTERMSIG(status), SIG_DFL);
    std::raise(WTERMSIG(status));
  }
  _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace

void relay_covered_streams() {
  std::array<Stream, 3> streams;
  bool any = false;
  for (int i = 0; i < 3; ++i) {
    if (!is_covered(i)) continue;
    // A descriptor below 3 would be taken for a standard stream.
    if (pipe2(streams[i].pipe, O_CLOEXEC) != 0) return;
    streams[i].covered = any = true;
  }
  if (!any) return;
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(number, pass_signal) == SIG_IGN) std::signal(number, SIG_IGN);
  const pid_t started = fork();
  if (started < 0) return;
  if (started == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
      if (std::signal(number, SIG_DFL) == SIG_IGN) std::signal(number, SIG_IGN);
    become_command(streams);
    return;
  }
  command = started;
  std::signal(SIGPIPE, SIG_IGN);
  pid_t feeder = 0;
  if (streams[0].covered) {
    feeder = fork();
    if (feeder == 0) {
      close(streams[0].pipe[0]);
      int ignored = 0;  // EPIPE: the command has closed its end
      while (copy_piece(STDIN_FILENO, streams[0].pipe[1], &ignored)) {
      }
      _exit(0);
    }
    close(streams[0].pipe[0]);
    close(streams[0].pipe[1]);
  }
  std::array<pollfd, 2> open{};
  for (int i = 0; i < 2; ++i) {
    open[i] = {streams[i + 1].covered ? streams[i + 1].pipe[0] : -1, POLLIN, 0};
    if (streams[i + 1].covered) close(streams[i + 1].pipe[1]);
  }
  int error = 0;
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (poll(open.data(), open.size(), -1) < 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (open[i].fd < 0 || open[i].revents == 0 || copy_piece(open[i].fd, i + 1, &error)) continue;
      // If the pool is full, a command that writes more gets SIGPIPE or EPIPE.
      close(open[i].fd);
      open[i].fd = -1;
    }
  }
  int status = 0;
  while (waitpid(started, &status, 0) < 0 && errno == EINTR) {
  }
  if (feeder > 0) kill(feeder, SIGKILL);
  if (error != 0) {
    tell("cairn: the output could not be written: {}\n", strerror(error));
    _exit(EXIT_FAILURE);
  }
  end_as(status);
}

}  // namespace cairn::cli
