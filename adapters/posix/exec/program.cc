// Runs programs that lie in the cover, which the kernel cannot read: an ELF file runs from a copy
// in memory, and a script is given to its interpreter here.
#include "posix/exec/program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/credentials/permission.h"
#include "posix/exec/interpreter.h"
#include "posix/exec/unpreloadable.h"
#include "posix/fd/descriptor.h"
#include "posix/loader/libraries.h"
#include "posix/loader/library_copies.h"
#include "posix/path/covered.h"
#include "posix/path/lookup.h"
#include "posix/path/program_file.h"
#include "posix/path/result.h"

namespace posix {

static int run(const char* path, char* const* arguments, char* const* environment, int depth);

static int run_copy(int copy, const program_file::File& file, char* const* arguments,
                    char* const* environment) {
  char text[program_file::kMostText];
  program_file::describe(file, copy, text, sizeof text);
  auto** room =
      static_cast<char**>(alloca(program_file::environment_room(environment) * sizeof(char*)));
  real::execveat(copy, "", arguments, program_file::environment(environment, text, room),
                 AT_EMPTY_PATH);
  int error = -errno;
  descriptor::close_private(copy);
  return error;
}

// Reads the first bytes of a file.
static ssize_t head_of(const cairn_stat& st, char* head, size_t size) {
  cairn_file* file = nullptr;
  int error = cairn_open_ino(pool, st.ino, st.generation, O_RDONLY, &file);
  if (error < 0) return error;
  ssize_t got = cairn_pread(file, head, size, 0);
  cairn_close(file);
  return got;
}

// Runs the interpreter with its argument, the script's path, and the arguments.
static int run_script(const ScriptLine& line, const char* path, char* const* arguments,
                      char* const* environment, int depth) {
  if (depth >= kMostInterpreters) return fail(-ELOOP);
  if (line.interpreter[0] == '\0') return fail(-ENOEXEC);
  size_t count = 0;
  while (arguments != nullptr && arguments[count] != nullptr) ++count;
  auto** all = static_cast<char**>(malloc((count + 4) * sizeof(char*)));
  if (all == nullptr) return fail(-ENOMEM);
  size_t n = 0;
  all[n++] = const_cast<char*>(line.interpreter);
  if (line.argument[0] != '\0') all[n++] = const_cast<char*>(line.argument);
  all[n++] = const_cast<char*>(path);
  for (size_t i = 1; i < count; ++i) all[n++] = arguments[i];
  all[n] = nullptr;
  run(line.interpreter, all, environment, depth + 1);
  free(all);
  return -1;
}

static int check_interpreter_of(const Found& found, const char* path) {
  Elf elf;
  return elf.read(found.st.ino, found.st.generation) ? check_interpreter(elf, path) : 0;
}

int run_elf(const Found& found, const char* path, Needs& needs, char* const* arguments,
            char* const* environment) {
  Loadable program;
  int error = check_interpreter_of(found, path);
  if (error == 0) error = needs.prepare(found, path, &program);
  if (error == 0) error = needs.prepare_preloads(environment);
  if (error < 0) return error;
  const Given given(needs, environment);
  char copy[32];
  snprintf(copy, sizeof copy, "/proc/self/fd/%d", program.copy);
  warn_if_unpreloadable(program.copy < 0 ? program.path : copy, path, arguments);
  if (program.copy < 0 && real::access(program.path, X_OK) == 0) {
    real::execve(program.path, arguments, given.environment());
    return -errno;
  }
  if (program.copy < 0)
    program.copy = copy_to_memory(found.st.ino, found.st.generation, found.name);
  if (program.copy < 0) return program.copy;
  return run_copy(program.copy,
                  {found.cover, found.parent, found.name, found.st.ino, found.st.generation},
                  arguments, given.environment());
}

// Returns a negative errno.
static int run_covered(const Found& found, const char* path, Needs& needs, char* const* arguments,
                       char* const* environment, int depth) {
  if (!S_ISREG(found.st.mode)) return -EACCES;
  int error = permitted(found.st, X_OK);
  if (error < 0) return error;
  char head[512];
  ssize_t got = head_of(found.st, head, sizeof head - 1);
  if (got < 0) return static_cast<int>(got);
  head[got] = '\0';
  ScriptLine line;
  if (take_script_line(head, &line)) {
    run_script(line, path, arguments, environment, depth);
    return -errno;
  }
  if (got < 4 || memcmp(head, "\177ELF", 4) != 0) return -ENOEXEC;
  return run_elf(found, path, needs, arguments, environment);
}

static int check_interpreter_outside(const char* path) {
  const int fd = real::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);  // the file may be a FIFO
  Elf elf;
  const int error = fd >= 0 && elf.read(fd) ? check_interpreter(elf, path) : 0;
  if (fd >= 0) real::close(fd);
  return error;
}

// Runs a script by its interpreter, and gives a program its libraries of the cover. Not inlined,
// because fault handlers start debuggers on stacks of a few pages, and most calls do not need these
// buffers.
[[gnu::noinline]] static int run_needing(const OutsideFile& file, char* const* arguments,
                                         char* const* environment, int depth) {
  char head[kHead];
  ScriptLine line;
  if (read_script_line(file.path, head, &line)) {
    if (real::access(file.path, X_OK) != 0) return -1;
    // The interpreter cannot open a script by a descriptor that closes on exec.
    const bool is_below = file.name != file.path;
    if (is_below && (real::fcntl(file.dir, F_GETFD, nullptr) & FD_CLOEXEC) != 0)
      return fail(-ENOENT);
    return run_script(line, file.name, arguments, environment, depth);
  }
  if (const int error = check_interpreter_outside(file.path); error < 0) return fail(error);
  Needs needs(value_of(environment, "LD_LIBRARY_PATH"), false);
  int error = needs.prepare_program(file.path);
  if (error == 0) error = needs.prepare_preloads(environment);
  if (error < 0) return fail(error);
  const Given given(needs, environment);
  return file.start(arguments, given.environment());
}

int OutsideFile::start(char* const* arguments, char* const* environment) const {
  return dir == AT_FDCWD && flags == 0 ? real::execve(in_dir, arguments, environment)
                                       : real::execveat(dir, in_dir, arguments, environment, flags);
}

int run_outside(const OutsideFile& file, char* const* arguments, char* const* environment,
                int depth) {
  warn_if_unpreloadable(file.path, file.name, arguments);
  const char* library_path = value_of(environment, "LD_LIBRARY_PATH");
  if (!start_needs_covered(file.path, library_path) && !preloads_may_need_covered(environment))
    return file.start(arguments, environment);
  return run_needing(file, arguments, environment, depth);
}

static int run_outside(const char* path, char* const* arguments, char* const* environment,
                       int depth) {
  return run_outside({path, path, AT_FDCWD, path, 0}, arguments, environment, depth);
}

[[gnu::noinline]] static int run_found(const char* path, char* const* arguments,
                                       char* const* environment, int depth) {
  Needs needs(value_of(environment, "LD_LIBRARY_PATH"), false);
  for (StaleRetry retry;;) {
    Found found;
    int error = find_existing(AT_FDCWD, path, 0, &found);
    if (error < 0) return fail(error);
    if (found.outside()) return run_outside(found.path, arguments, environment, depth);
    error = run_covered(found, path, needs, arguments, environment, depth);
    if (!retry.again(&error)) return fail(error);
  }
}

static int run(const char* path, char* const* arguments, char* const* environment, int depth) {
  return outside(path) ? run_outside(path, arguments, environment, depth)
                       : run_found(path, arguments, environment, depth);
}

int run_program(const char* path, char* const* arguments, char* const* environment) {
  const Preloads preloads(environment);
  return run(path, arguments, preloads.environment(), 0);
}

}  // namespace posix
