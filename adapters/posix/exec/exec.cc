// The exec family. Every call of it ends in execve.
#include "posix/exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/permission.h"
#include "posix/exec/calls.h"
#include "posix/exec/handover.h"
#include "posix/exec/program.h"
#include "posix/fd/fd_path.h"
#include "posix/fd/table.h"
#include "posix/loader/libraries.h"
#include "posix/path/covered.h"
#include "posix/path/cwd.h"
#include "posix/path/lookup.h"
#include "posix/path/program_file.h"
#include "posix/path/result.h"

namespace posix {

bool candidate(const char* name, int n, char* path, size_t capacity) {
  size_t length = strlen(name);
  if (strchr(name, '/') != nullptr || length == 0) {
    if (n > 0 || length >= capacity) return false;
    memcpy(path, name, length + 1);
    return true;
  }
  const char* list = getenv("PATH");
  if (list == nullptr) list = "/bin:/usr/bin";
  for (;; ++list) {
    size_t directory = strcspn(list, ":");
    if (n-- == 0) {
      if (directory + length + 2 > capacity) return false;
      memcpy(path, list, directory);
      size_t at = directory;
      if (at > 0) path[at++] = '/';
      memcpy(path + at, name, length + 1);
      return true;
    }
    list += directory;
    if (*list == '\0') return false;
  }
}

// Runs a file that is not a program as a script of the shell.
static int run_by_shell(const char* path, char* const* arguments, char* const* environment) {
  size_t count = 0;
  while (arguments[count] != nullptr) ++count;
  auto** all = static_cast<char**>(alloca((count + 3) * sizeof(char*)));
  static char shell[] = "/bin/sh";
  all[0] = shell;
  all[1] = const_cast<char*>(path);
  size_t n = 2;
  for (size_t i = 1; i < count; ++i) all[n++] = arguments[i];
  all[n] = nullptr;
  return serve::execve(shell, all, environment);
}

static int run_open(int fd, const table::Use& use, char* const* arguments,
                    char* const* environment) {
  Found found;
  int error = cairn_fstat(use->file, &found.st);
  if (error == 0) error = S_ISREG(found.st.mode) ? permitted(found.st, X_OK) : -EACCES;
  if (error < 0) return error;
  if (use->name != nullptr) found.cover = use->cover;
  found.parent = use->parent;
  snprintf(found.name, sizeof found.name, "%s", use->name != nullptr ? use->name : "program");
  char path[PATH_MAX];
  if (fd_path::path_of(use.get(), path, sizeof path) <
      0)  // it has none, and nothing lies beside it
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  Needs needs(value_of(environment, "LD_LIBRARY_PATH"), false);
  return run_elf(found, path, needs, arguments, environment);
}

// Runs a file outside the cover as execveat does.
static int run_outside_at(int dir, const char* in_dir, char* const* arguments,
                          char* const* environment, int flags) {
  char path[PATH_MAX + 32];
  char name[PATH_MAX + 32];
  const bool is_below = in_dir[0] != '/' && dir != AT_FDCWD;
  const char* slash = in_dir[0] == '\0' ? "" : "/";
  snprintf(path, sizeof path, "/proc/self/fd/%d%s%.4096s", dir, slash, in_dir);
  snprintf(name, sizeof name, "/dev/fd/%d%s%.4096s", dir, slash, in_dir);
  const OutsideFile file = {is_below ? path : in_dir, is_below ? name : in_dir, dir, in_dir, flags};
  struct stat st;
  if ((flags & AT_SYMLINK_NOFOLLOW) != 0 &&
      (real::lstat(file.path, &st) != 0 || S_ISLNK(st.st_mode)) && in_dir[0] != '\0')
    return file.start(arguments, environment);  // it fails
  return run_outside(file, arguments, environment, 0);
}

static bool can_read(char* const* arguments, char* const* environment) {
  return user_memory::is_list(arguments) && user_memory::is_list(environment);
}

// Fails for arguments that cannot be read. The kernel looks up the program first, so errors of that
// come first. Not inlined, so that execve's frame stays small.
[[gnu::noinline]] static int refuse_unreadable(const char* path) {
  Found found;
  int error = find_existing(AT_FDCWD, path, 0, &found);
  if (error == 0 && found.outside()) error = real::access(found.path, X_OK) == 0 ? 0 : -errno;
  if (error == 0 && !found.outside())
    error = S_ISREG(found.st.mode) ? permitted(found.st, X_OK) : -EACCES;
  return fail(error < 0 ? error : -EFAULT);
}

namespace serve {

int execve(const char* path, char* const* arguments, char* const* environment) {
  if (!active() || !user_memory::is_text(path)) return real::execve(path, arguments, environment);
  if (!can_read(arguments, environment))
    return outside(path) ? real::execve(path, arguments, environment) : refuse_unreadable(path);
  // The lookup of a relative path, and that of libraries, may take the kernel to another directory.
  // So it comes before the directory is described.
  if (path[0] != '/' || !outside(path) ||
      may_need_covered(value_of(environment, "LD_LIBRARY_PATH")))
    cwd::where();
  Handover handover;
  int error = handover.prepare();
  if (error < 0) return fail(error);
  auto** room =
      static_cast<char**>(alloca(Handover::environment_room(environment) * sizeof(char*)));
  run_program(path, arguments, handover.environment(environment, room));
  handover.cancel();
  return -1;
}

// Runs the first candidate that can be run, as execvp does. Reports a file without permission only
// if no other is found.
int execvpe(const char* name, char* const* arguments, char* const* environment) {
  if (!active()) return real::execvpe(name, arguments, environment);
  char path[PATH_MAX];
  bool forbidden = false;
  errno = ENOENT;
  for (int n = 0; candidate(name, n, path, sizeof path); ++n) {
    serve::execve(path, arguments, environment);
    if (errno == ENOEXEC) run_by_shell(path, arguments, environment);
    if (errno == EACCES) {
      forbidden = true;
    } else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV &&
               errno != ETIMEDOUT) {
      return -1;
    }
  }
  if (forbidden) errno = EACCES;
  return -1;
}

static int run_descriptor(int fd, char* const* arguments, char* const* environment) {
  if (!active()) return real::fexecve(fd, arguments, environment);
  if (!can_read(arguments, environment))
    return table::is_covered(fd) ? fail(-EFAULT) : real::fexecve(fd, arguments, environment);
  Handover handover;
  int error = handover.prepare();
  if (error < 0) return fail(error);
  const Preloads preloads(environment);
  environment = preloads.environment();
  auto** room =
      static_cast<char**>(alloca(Handover::environment_room(environment) * sizeof(char*)));
  char* const* all = handover.environment(environment, room);
  table::Use use(fd);
  if (use) {
    fail(run_open(fd, use, arguments, all));
  } else {
    run_outside_at(fd, "", arguments, all, AT_EMPTY_PATH);
  }
  handover.cancel();
  return -1;
}

int execveat(int dir, const char* path, char* const* arguments, char* const* environment,
             int flags) {
  if (!active() || !user_memory::is_text(path) ||
      (outside(dir, path) && !table::is_covered(dir) && !can_read(arguments, environment)))
    return real::execveat(dir, path, arguments, environment, flags);
  const bool is_known = (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) == 0;
  const bool is_missing = path[0] == '\0' && (flags & AT_EMPTY_PATH) == 0;
  if (!is_known && (table::is_covered(dir) || !outside(dir, path)))
    return fail(is_missing ? -ENOENT : -EINVAL);
  if ((flags & AT_EMPTY_PATH) != 0 && path[0] == '\0' && table::is_covered(dir))
    return run_descriptor(dir, arguments, environment);
  if (!outside(dir, path)) {
    Found found;
    int error = find_existing(dir, path, CAIRN_NOFOLLOW, &found);
    if (error < 0) return fail(error);
    if ((flags & AT_SYMLINK_NOFOLLOW) != 0 && !found.outside() && S_ISLNK(found.st.mode))
      return fail(-ELOOP);
    char whole[2 * PATH_MAX];
    if (path[0] != '/' && dir != AT_FDCWD && table::is_covered(dir)) {
      table::Use use(dir);
      long length = use ? fd_path::path_of(use.get(), whole, sizeof whole) : -EBADF;
      if (length < 0) return fail(length);
      size_t left = sizeof whole - static_cast<size_t>(length);
      if (snprintf(whole + length, left, "/%s", path) >= static_cast<int>(left))
        return fail(-ENAMETOOLONG);
      path = whole;
    }
    if (path[0] == '/' || dir == AT_FDCWD) return serve::execve(path, arguments, environment);
  }
  if (!can_read(arguments, environment))
    return real::execveat(dir, path, arguments, environment, flags);
  Handover handover;
  int error = handover.prepare();
  if (error < 0) return fail(error);
  const Preloads preloads(environment);
  environment = preloads.environment();
  auto** room =
      static_cast<char**>(alloca(Handover::environment_room(environment) * sizeof(char*)));
  run_outside_at(dir, path, arguments, handover.environment(environment, room), flags);
  handover.cancel();
  return -1;
}

// The C library refuses arguments that the system call would take.
int fexecve(int fd, char* const* arguments, char* const* environment) {
  if (fd < 0 || arguments == nullptr || environment == nullptr) return fail(-EINVAL);
  return run_descriptor(fd, arguments, environment);
}

}  // namespace serve

// Collects execl(path, arg0, ..., nullptr[, environment]) into an array.
#define COLLECT(first)                                                         \
  va_list list;                                                                \
  va_start(list, first);                                                       \
  size_t count = 1;                                                            \
  while (va_arg(list, char*) != nullptr) ++count;                              \
  va_end(list);                                                                \
  auto** arguments = static_cast<char**>(alloca((count + 1) * sizeof(char*))); \
  va_start(list, first);                                                       \
  arguments[0] = const_cast<char*>(first);                                     \
  for (size_t i = 1; i <= count; ++i) arguments[i] = va_arg(list, char*);

POSIX_EXPORT int posix_export_execl(const char* path, const char* first, ...) __asm__("execl");
int posix_export_execl(const char* path, const char* first, ...) {
  COLLECT(first)
  va_end(list);
  return serve::execve(path, arguments, environ);
}

POSIX_EXPORT int posix_export_execlp(const char* name, const char* first, ...) __asm__("execlp");
int posix_export_execlp(const char* name, const char* first, ...) {
  COLLECT(first)
  va_end(list);
  return serve::execvpe(name, arguments, environ);
}

POSIX_EXPORT int posix_export_execle(const char* path, const char* first, ...) __asm__("execle");
int posix_export_execle(const char* path, const char* first, ...) {
  COLLECT(first)
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return serve::execve(path, arguments, environment);
}

}  // namespace posix
