#include "posix/exec/interpreter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/loader/below.h"
#include "posix/loader/libraries.h"
#include "posix/path/covered.h"
#include "posix/path/lookup.h"

namespace posix {

bool take_script_line(char* head, ScriptLine* line) {
  if (head[0] != '#' || head[1] != '!') return false;
  head[strcspn(head, "\n")] = '\0';
  char* interpreter = head + 2 + strspn(head + 2, " \t");
  char* end = interpreter + strcspn(interpreter, " \t");
  char* argument = end + strspn(end, " \t");
  size_t length = strlen(argument);
  while (length > 0 && (argument[length - 1] == ' ' || argument[length - 1] == '\t'))
    argument[--length] = '\0';
  *end = '\0';
  *line = {interpreter, argument};
  return true;
}

static int open_to_look(const char* path) {
  return real::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);  // the file may be a FIFO
}

static bool read_line(int fd, char* head, ScriptLine* line) {
  const ssize_t got = real::pread(fd, head, kHead - 1, 0);
  head[got < 0 ? 0 : got] = '\0';
  return take_script_line(head, line);
}

bool read_script_line(const char* path, char* head, ScriptLine* line) {
  const int fd = open_to_look(path);
  const bool is_script = fd >= 0 && read_line(fd, head, line);
  if (fd >= 0) real::close(fd);
  return is_script;
}

bool start_needs_covered(const char* path, const char* library_path, int depth) {
  if (may_need_covered(library_path)) return true;
  const int fd = open_to_look(path);
  if (fd < 0) return false;
  char head[kHead];
  char interpreter[PATH_MAX];
  ScriptLine line;
  Elf elf;
  bool needs = false;
  if (read_line(fd, head, &line)) {
    needs =
        !outside(line.interpreter) ||
        (depth < kMostInterpreters && start_needs_covered(line.interpreter, nullptr, depth + 1));
  } else if (elf.read(fd)) {
    needs = may_need_covered(elf, fd, path) ||
            (elf.interpreter(interpreter, sizeof interpreter) && !outside(interpreter));
  }
  real::close(fd);
  return needs;
}

int check_interpreter(const Elf& elf, const char* name) {
  char path[PATH_MAX];
  if (!elf.interpreter(path, sizeof path) || outside(path)) return 0;
  Found found;
  const int error = find_existing(AT_FDCWD, path, 0, &found);
  if (error < 0) return error;
  if (!found.outside() && below::is_unchanged(found, path)) return 0;
  log(Level::kWarning, name,
      ": cannot be started: its ELF interpreter lies in the covered directory, which does not have "
      "it as it is here; drain: ",
      path);
  return -ELIBACC;
}

}  // namespace posix
