// Programs that lie in the cover: the kernel cannot read them, so an ELF file runs from a copy in
// memory, and a script is given to its interpreter here.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/process.h"
#include "posix/credentials/permission.h"
#include "posix/exec/unpreloadable.h"
#include "posix/fd/descriptor.h"
#include "posix/loader/libraries.h"
#include "posix/path/covered.h"
#include "posix/path/lookup.h"
#include "posix/path/program_file.h"
#include "posix/path/result.h"

namespace posix {

constexpr int kMostInterpreters = 5;  // as the kernel follows scripts of scripts

static int run(const char* path, char* const* arguments, char* const* environment, int depth);

namespace {

// Lets the copy be as large as the program: the limit to the size of files is held against files in
// memory, too, and the signal would end a program that writes none.
class Unlimited {
 public:
  explicit Unlimited(uint64_t size) {
    struct rlimit wanted;
    if (getrlimit(RLIMIT_FSIZE, &before_) != 0 || size <= before_.rlim_cur) return;
    wanted = {before_.rlim_max, before_.rlim_max};
    raised_ = size <= wanted.rlim_max && real::setrlimit(RLIMIT_FSIZE, &wanted) == 0;
    fits_ = raised_;
  }
  ~Unlimited() {
    if (raised_) real::setrlimit(RLIMIT_FSIZE, &before_);
  }
  Unlimited(const Unlimited&) = delete;
  Unlimited& operator=(const Unlimited&) = delete;
  [[nodiscard]] bool fits() const { return fits_; }

 private:
  struct rlimit before_;
  bool raised_ = false;
  bool fits_ = true;
};

}  // namespace

int copy_to_memory(cairn_ino ino, uint64_t generation, const char* name) {
  cairn_file* file = nullptr;
  int error = cairn_open_ino(pool, ino, generation, O_RDONLY, &file);
  if (error < 0) return error;
  int memory = memfd_create(name, MFD_CLOEXEC);
  if (memory < 0) error = -errno;
  constexpr size_t kPiece = 256 * 1024;
  char* buffer = static_cast<char*>(malloc(kPiece));
  if (buffer == nullptr) error = -ENOMEM;
  cairn_stat st = {};
  if (error == 0) error = cairn_fstat(file, &st);
  const Unlimited unlimited(st.size);
  if (!unlimited.fits()) error = -EFBIG;
  for (uint64_t offset = 0; error == 0;) {
    ssize_t got = cairn_pread(file, buffer, kPiece, offset);
    if (got < 0) error = static_cast<int>(got);
    if (got <= 0) break;
    for (ssize_t put = 0; error == 0 && put < got;) {
      ssize_t wrote = real::write(memory, buffer + put, static_cast<size_t>(got - put));
      if (wrote < 0) error = -errno;
      if (wrote > 0) put += wrote;
    }
    offset += static_cast<uint64_t>(got);
  }
  free(buffer);
  cairn_close(file);
  if (error < 0 && memory >= 0) descriptor::close_private(memory);
  return error < 0 ? error : memory;
}

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

// The first bytes of a file.
static ssize_t head_of(const cairn_stat& st, char* head, size_t size) {
  cairn_file* file = nullptr;
  int error = cairn_open_ino(pool, st.ino, st.generation, O_RDONLY, &file);
  if (error < 0) return error;
  ssize_t got = cairn_pread(file, head, size, 0);
  cairn_close(file);
  return got;
}

// "#!INTERPRETER [ARGUMENT]": the interpreter gets the argument, the script's path, and the
// arguments.
static int run_script(char* line, const char* path, char* const* arguments,
                      char* const* environment, int depth) {
  char* interpreter = line + 2;
  interpreter += strspn(interpreter, " \t");
  char* end = interpreter + strcspn(interpreter, " \t\n");
  char* argument = end + strspn(end, " \t");
  argument[strcspn(argument, "\n")] = '\0';
  size_t length = strlen(argument);
  while (length > 0 && (argument[length - 1] == ' ' || argument[length - 1] == '\t'))
    argument[--length] = '\0';
  *end = '\0';
  if (interpreter[0] == '\0') return fail(-ENOEXEC);
  size_t count = 0;
  while (arguments != nullptr && arguments[count] != nullptr) ++count;
  auto** all = static_cast<char**>(malloc((count + 4) * sizeof(char*)));
  if (all == nullptr) return fail(-ENOMEM);
  size_t n = 0;
  all[n++] = interpreter;
  if (length > 0) all[n++] = argument;
  all[n++] = const_cast<char*>(path);
  for (size_t i = 1; i < count; ++i) all[n++] = arguments[i];
  all[n] = nullptr;
  run(interpreter, all, environment, depth + 1);
  free(all);
  return -1;
}

int run_elf(const Found& found, const char* path, char* const* arguments,
            char* const* environment) {
  Needs needs(value_of(environment, "LD_LIBRARY_PATH"), false);
  Loadable program;
  int error = needs.prepare(found, path, &program);
  if (error < 0) return error;
  const Given given(needs, environment);
  char copy[32];
  snprintf(copy, sizeof copy, "/proc/self/fd/%d", program.copy);
  tell_if_passing_by(program.copy < 0 ? program.path : copy, path, arguments);
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
static int run_covered(const Found& found, const char* path, char* const* arguments,
                       char* const* environment, int depth) {
  if (!S_ISREG(found.st.mode)) return -EACCES;
  int error = permitted(found.st, X_OK);
  if (error < 0) return error;
  char head[512];
  ssize_t got = head_of(found.st, head, sizeof head - 1);
  if (got < 0) return static_cast<int>(got);
  head[got] = '\0';
  if (got >= 2 && head[0] == '#' && head[1] == '!') {
    if (depth >= kMostInterpreters) return -ELOOP;
    head[strcspn(head, "\n")] = '\0';
    run_script(head, path, arguments, environment, depth);
    return -errno;
  }
  if (got < 4 || memcmp(head, "\177ELF", 4) != 0) return -ENOEXEC;
  return run_elf(found, path, arguments, environment);
}

// Handlers of faults start a debugger on stacks of a few pages: what needs much room is no part of
// frames that do not need it, whichever compiler there is.
[[gnu::noinline]] static int run_with_copies(const char* path, const char* library_path,
                                             char* const* arguments, char* const* environment) {
  Needs needs(library_path, false);
  if (const int error = needs.prepare_outside(path); error < 0) return fail(error);
  const Given given(needs, environment);
  return real::execve(path, arguments, given.environment());
}

// What lies outside may need libraries of the cover.
static int run_outside(const char* path, char* const* arguments, char* const* environment) {
  tell_if_passing_by(path, path, arguments);
  const char* library_path = value_of(environment, "LD_LIBRARY_PATH");
  if (!may_need_covered(path, library_path)) return real::execve(path, arguments, environment);
  return run_with_copies(path, library_path, arguments, environment);
}

[[gnu::noinline]] static int run_found(const char* path, char* const* arguments,
                                       char* const* environment, int depth) {
  for (Looks looks;;) {
    Found found;
    int error = find_existing(AT_FDCWD, path, 0, &found);
    if (error < 0) return fail(error);
    if (found.outside()) return run_outside(found.path, arguments, environment);
    error = run_covered(found, path, arguments, environment, depth);
    if (!looks.again(&error)) return fail(error);
  }
}

static int run(const char* path, char* const* arguments, char* const* environment, int depth) {
  return outside(path) ? run_outside(path, arguments, environment)
                       : run_found(path, arguments, environment, depth);
}

int run_program(const char* path, char* const* arguments, char* const* environment) {
  const Preloads preloads(environment);
  return run(path, arguments, preloads.environment(), 0);
}

}  // namespace posix
