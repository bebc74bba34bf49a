// posix_spawn. The C library's own serves it unless the child needs its own place in the pool
// before it becomes the program: to inherit a Cairn file, to act on covered paths, or to run a
// covered program. Then the call is fork, the attributes and actions, and exec.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/exec/calls.h"
#include "posix/exec/exec.h"
#include "posix/exec/handover.h"
#include "posix/exec/interpreter.h"
#include "posix/exec/unpreloadable.h"
#include "posix/fd/descriptor.h"
#include "posix/fd/table.h"
#include "posix/io/calls.h"
#include "posix/loader/libraries.h"
#include "posix/names/calls.h"
#include "posix/path/covered.h"
#include "posix/path/cwd.h"

namespace posix {

// glibc's record of a file action; unchanged since 2.29.
struct Action {
  enum Kind { kClose, kDup2, kOpen, kChdir, kFchdir, kCloseFrom, kTerminal } kind;
  struct Descriptor {
    int fd;
  };
  struct Duplicate {
    int fd, to;
  };
  struct Open {
    int fd;
    char* path;
    int flags;
    mode_t mode;
  };
  struct Path {
    char* path;
  };
  union {
    Descriptor close;
    Duplicate dup2;
    Open open;
    Path chdir;
    Descriptor fchdir;
    Descriptor closefrom;
    Descriptor terminal;
  };
};

struct Actions {
  int allocated;
  int used;
  Action* list;
};

static const Actions* view(const posix_spawn_file_actions_t* actions) {
  return reinterpret_cast<const Actions*>(actions);
}

static bool touches_covered(const posix_spawn_file_actions_t* actions) {
  if (actions == nullptr) return false;
  for (int i = 0; i < view(actions)->used; ++i) {
    const Action& action = view(actions)->list[i];
    switch (action.kind) {
      case Action::kOpen:
        if (!outside(action.open.path)) return true;
        break;
      case Action::kChdir:
        return true;  // the child finds out whether the directory, or a path from it, is covered
      case Action::kDup2:
        if (table::is_covered(action.dup2.fd)) return true;
        break;
      case Action::kFchdir:
        if (table::peek(action.fchdir.fd) != nullptr) return true;
        break;
      default:
        break;
    }
  }
  return false;
}

static int act(const Action& action) {
  switch (action.kind) {
    case Action::kClose:
      serve::close(action.close.fd);
      return 0;
    case Action::kDup2: {
      if (action.dup2.fd != action.dup2.to) return serve::dup2(action.dup2.fd, action.dup2.to);
      int flags = real::fcntl(action.dup2.fd, F_GETFD, nullptr);
      if (flags < 0) return -1;
      return real::fcntl(action.dup2.fd, F_SETFD,
                         reinterpret_cast<void*>(static_cast<intptr_t>(flags & ~FD_CLOEXEC)));
    }
    case Action::kOpen: {
      serve::close(action.open.fd);
      int fd = serve::open(action.open.path, action.open.flags, action.open.mode);
      if (fd < 0 || fd == action.open.fd) return fd;
      int put = serve::dup2(fd, action.open.fd);
      serve::close(fd);
      return put;
    }
    case Action::kChdir:
      return serve::chdir(action.chdir.path);
    case Action::kFchdir:
      return serve::fchdir(action.fchdir.fd);
    case Action::kCloseFrom:
      serve::closefrom(action.closefrom.fd);
      return 0;
    case Action::kTerminal:
      return tcsetpgrp(action.terminal.fd, getpgrp());
  }
  return 0;
}

static int set_attributes(const posix_spawnattr_t* attributes) {
  short flags = 0;  // NOLINT(google-runtime-int): the interface's
  if (attributes != nullptr) posix_spawnattr_getflags(attributes, &flags);
  // The program does not keep the parent's handlers.
  sigset_t defaults;
  sigemptyset(&defaults);
  if ((flags & POSIX_SPAWN_SETSIGDEF) != 0) posix_spawnattr_getsigdefault(attributes, &defaults);
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction now;
    if (sigaction(number, nullptr, &now) != 0) continue;
    bool handled = now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN;
    if (!handled && sigismember(&defaults, number) != 1) continue;
    struct sigaction plain = {};
    plain.sa_handler = SIG_DFL;
    sigaction(number, &plain, nullptr);
  }
  if ((flags & POSIX_SPAWN_SETSID) != 0 && setsid() < 0) return -1;
  if ((flags & POSIX_SPAWN_SETPGROUP) != 0) {
    pid_t group = 0;
    posix_spawnattr_getpgroup(attributes, &group);
    if (setpgid(0, group) != 0) return -1;
  }
  if ((flags & POSIX_SPAWN_RESETIDS) != 0 && (setegid(getgid()) != 0 || seteuid(getuid()) != 0))
    return -1;
  if ((flags & (POSIX_SPAWN_SETSCHEDULER | POSIX_SPAWN_SETSCHEDPARAM)) != 0) {
    struct sched_param parameters;
    posix_spawnattr_getschedparam(attributes, &parameters);
    int policy = sched_getscheduler(0);
    if ((flags & POSIX_SPAWN_SETSCHEDULER) != 0)
      posix_spawnattr_getschedpolicy(attributes, &policy);
    if (sched_setscheduler(0, policy, &parameters) != 0) return -1;
  }
  return 0;
}

struct Order {
  const char* path;
  const posix_spawn_file_actions_t* actions;
  const posix_spawnattr_t* attributes;
  char* const* arguments;
  char* const* environment;
};

// Runs in the child. Returns with errno if the program cannot be started.
static void become(const Order& order, const sigset_t* mask) {
  if (set_attributes(order.attributes) != 0) return;
  for (int i = 0; order.actions != nullptr && i < view(order.actions)->used; ++i) {
    if (act(view(order.actions)->list[i]) < 0) return;
  }
  short flags = 0;  // NOLINT(google-runtime-int): the interface's
  sigset_t wanted = *mask;
  if (order.attributes != nullptr) posix_spawnattr_getflags(order.attributes, &flags);
  if ((flags & POSIX_SPAWN_SETSIGMASK) != 0) posix_spawnattr_getsigmask(order.attributes, &wanted);
  sigprocmask(SIG_SETMASK, &wanted, nullptr);
  serve::execve(order.path, order.arguments, order.environment);
}

static int private_pipe(int* in, int* out) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    if (errno != EMFILE) return errno;
    descriptor::Room room(2);
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  }
  *in = descriptor::keep_private(ends[0]);
  *out = descriptor::keep_private(ends[1]);
  return 0;
}

// Gets the child's error through a pipe that a successful exec closes. Returns an errno value.
static int spawn_by_fork(pid_t* pid, const Order& order) {
  int in = -1, out = -1;
  if (int error = private_pipe(&in, &out); error != 0) return error;
  // Until the child has removed the parent's handlers, none of them may run there.
  sigset_t all, mask;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &mask);
  pid_t child = serve::fork();
  int error = child < 0 ? errno : 0;
  if (child == 0) {
    become(order, &mask);
    error = errno;
    if (real::write(out, &error, sizeof error) < 0) error = 0;
    _exit(127);
  }
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  descriptor::close_private(out);
  descriptor::refill();
  if (child > 0) {
    ssize_t got;
    do {
      got = real::read(in, &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    if (got == sizeof error) {
      waitpid(child, nullptr, 0);
    } else {
      error = 0;
      if (pid != nullptr) *pid = child;
    }
  }
  descriptor::close_private(in);
  return error;
}

static int spawn(pid_t* pid, const Order& order) {
  // The child reports arguments that cannot be read, perhaps before it has a place in the pool.
  if (!user_memory::is_text(order.path) || !user_memory::is_list(order.arguments) ||
      !user_memory::is_list(order.environment))
    return outside(order.path) ? real::posix_spawn(pid, order.path, order.actions, order.attributes,
                                                   order.arguments, order.environment)
                               : EFAULT;
  if (!outside(order.path) || touches_covered(order.actions) || has_inheritable_files() ||
      start_needs_covered(order.path, value_of(order.environment, "LD_LIBRARY_PATH")) ||
      Preloads::may_need_covered(order.environment) ||
      would_warn(order.path, order.arguments))  // to the standard error of the child
    return spawn_by_fork(pid, order);
  // The child must not get files that other threads open meanwhile. To describe them would keep a
  // place in the pool for a program that does not know of it.
  Handover handover;
  handover.describe_directory();
  auto** room =
      static_cast<char**>(alloca(Handover::environment_room(order.environment) * sizeof(char*)));
  char* const* environment = handover.environment(order.environment, room);
  return real::posix_spawn(pid, order.path, order.actions, order.attributes, order.arguments,
                           environment);
}

namespace serve {

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* environment) {
  if (!active()) return real::posix_spawn(pid, path, actions, attributes, arguments, environment);
  int before = errno;
  int error = spawn(pid, {path, actions, attributes, arguments, environment});
  errno = before;
  return error;
}

// Unlike execvp it does not give other files to the shell (glibc's, from 2.15 on).
int posix_spawnp(pid_t* pid, const char* name, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments,
                 char* const* environment) {
  if (!active()) return real::posix_spawnp(pid, name, actions, attributes, arguments, environment);
  int before = errno;
  char path[PATH_MAX];
  int error = ENOENT;
  bool forbidden = false;
  for (int n = 0; candidate(name, n, path, sizeof path); ++n) {
    struct stat st;
    if (strchr(name, '/') == nullptr && (serve::stat(path, &st) != 0 || !S_ISREG(st.st_mode)))
      continue;
    error = spawn(pid, {path, actions, attributes, arguments, environment});
    if (error == EACCES) forbidden = true;
    if (error != ENOENT && error != ENOTDIR && error != EACCES) break;
  }
  if (forbidden && error != 0) error = EACCES;
  errno = before;
  return error;
}

}  // namespace serve
}  // namespace posix
