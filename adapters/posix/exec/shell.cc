// system, popen and daemon: the C library's own start programs by internal functions that this
// library cannot intercept.
#include "posix/exec/shell.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/exec/calls.h"
#include "posix/exec/handover.h"
#include "posix/fd/descriptor.h"
#include "posix/io/calls.h"
#include "posix/loader/libraries.h"
#include "posix/names/calls.h"
#include "posix/path/covered.h"
#include "posix/path/cwd.h"

namespace posix {

// The handlers that system has replaced, kept while a call is running. A second thread would find
// the handlers of the first one and leave those behind.
static pthread_mutex_t waiting_mutex = PTHREAD_MUTEX_INITIALIZER;
static int waiting;
static struct sigaction kept_interrupt, kept_quit;

static void ignore_keys() {
  pthread_mutex_lock(&waiting_mutex);
  if (waiting++ == 0) {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    real::sigaction(SIGINT, &ignore, &kept_interrupt);
    real::sigaction(SIGQUIT, &ignore, &kept_quit);
  }
  pthread_mutex_unlock(&waiting_mutex);
}

static void heed_keys() {
  pthread_mutex_lock(&waiting_mutex);
  if (--waiting == 0) {
    real::sigaction(SIGINT, &kept_interrupt, nullptr);
    real::sigaction(SIGQUIT, &kept_quit, nullptr);
  }
  pthread_mutex_unlock(&waiting_mutex);
}

static bool child_needs_us() {
  return active() && (cwd::where() == cwd::Where::kCovered || has_inheritable_files() ||
                      may_need_covered(value_of(environ, "LD_LIBRARY_PATH")) ||
                      Preloads::may_need_covered(environ));
}

static int spawn_shell(const char* command, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, pid_t* pid) {
  static char shell[] = "sh", option[] = "-c";
  char* arguments[] = {shell, option, const_cast<char*>(command), nullptr};
  return serve::posix_spawn(pid, "/bin/sh", actions, attributes, arguments, environ);
}

// Streams of popen that are ours, and their processes.
struct Pipe {
  FILE* stream;
  pid_t pid;
  Pipe* next;
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Pipe* pipes;

void shell::after_fork() {
  pthread_mutex_init(&waiting_mutex, nullptr);
  pthread_mutex_init(&mutex, nullptr);
}

static FILE* remember(FILE* stream, pid_t pid) {
  auto* pipe = stream != nullptr ? static_cast<Pipe*>(malloc(sizeof(Pipe))) : nullptr;
  if (pipe == nullptr) return nullptr;
  pthread_mutex_lock(&mutex);
  *pipe = {stream, pid, pipes};
  pipes = pipe;
  pthread_mutex_unlock(&mutex);
  return stream;
}

namespace serve {

int system(const char* command) {
  // This library serves all calls, so that all of them keep the same handlers.
  if (command == nullptr || !active()) return real::system(command);
  sigset_t child, mask;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  ignore_keys();
  pthread_sigmask(SIG_BLOCK, &child, &mask);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  if (kept_interrupt.sa_handler != SIG_IGN) sigaddset(&defaults, SIGINT);
  if (kept_quit.sa_handler != SIG_IGN) sigaddset(&defaults, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  int status = -1;
  int error = spawn_shell(command, nullptr, &attributes, &pid);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    status = W_EXITCODE(127, 0);
  } else {
    while (waitpid(pid, &status, 0) < 0) {
      if (errno == EINTR) continue;
      status = -1;
      break;
    }
  }
  heed_keys();
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  if (error != 0) errno = error;
  return status;
}

FILE* popen(const char* command, const char* mode) {
  if (!child_needs_us()) return real::popen(command, mode);
  bool reading = strchr(mode, 'r') != nullptr, writing = strchr(mode, 'w') != nullptr;
  if (reading == writing) {
    errno = EINVAL;
    return nullptr;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  int ours = ends[reading ? 0 : 1], theirs = ends[reading ? 1 : 0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs, reading ? 1 : 0);
  pid_t pid = -1;
  int error = spawn_shell(command, &actions, nullptr, &pid);
  posix_spawn_file_actions_destroy(&actions);
  real::close(theirs);
  if (error == 0) {
    if (strchr(mode, 'e') == nullptr) real::fcntl(ours, F_SETFD, nullptr);
    if (FILE* stream = remember(real::fdopen(ours, reading ? "r" : "w"), pid)) {
      real::fwide(stream, -1);  // the C library's is for bytes, too
      return stream;
    }
    error = ENOMEM;
  }
  real::close(ours);
  errno = error;
  return nullptr;
}

int pclose(FILE* stream) {
  pthread_mutex_lock(&mutex);
  Pipe** link = &pipes;
  while (*link != nullptr && (*link)->stream != stream) link = &(*link)->next;
  Pipe* pipe = *link;
  if (pipe != nullptr) *link = pipe->next;
  pthread_mutex_unlock(&mutex);
  if (pipe == nullptr) return real::pclose(stream);
  pid_t pid = pipe->pid;
  free(pipe);
  real::fclose(stream);
  int status;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

int daemon(int keep_directory, int keep_streams) {
  if (!active()) return real::daemon(keep_directory, keep_streams);
  pid_t child = serve::fork();
  if (child < 0) return -1;
  if (child > 0) _exit(0);
  if (setsid() < 0) return -1;
  if (keep_directory == 0 && serve::chdir("/") != 0) return -1;
  if (keep_streams == 0) {
    int null = serve::open("/dev/null", O_RDWR, 0);
    if (null < 0) return -1;
    for (int fd = 0; fd <= 2; ++fd) serve::dup2(null, fd);
    if (null > 2) serve::close(null);
  }
  return 0;
}

}  // namespace serve
}  // namespace posix
