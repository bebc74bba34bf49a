#include "posix/core/self_exe.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "posix/core/calls.h"

namespace posix::self_exe {

Own own;
static constinit bool copied = false;

bool is_named(const char* path) {
  if (!copied || strncmp(path, "/proc/", 6) != 0) return false;
  const char* rest = path + 6;
  if (strcmp(rest, "self/exe") == 0 || strcmp(rest, "thread-self/exe") == 0) return true;
  char* end;
  return *rest >= '1' && *rest <= '9' && strtol(rest, &end, 10) == getpid() &&
         strcmp(end, "/exe") == 0;
}

// Takes "NUMBER:" from the text.
static bool take_number(const char** text, uint64_t* number) {
  char* end;
  *number = strtoull(*text, &end, 10);
  if (end == *text || *end != ':') return false;
  *text = end + 1;
  return true;
}

void inherit(const char* value) {
  uint64_t copy, ino, generation;
  struct stat running;
  if (!take_number(&value, &copy) || !take_number(&value, &ino) ||
      !take_number(&value, &generation) || strlen(value) >= sizeof own.path)
    return;
  // The variable may be meant for another program: one without this library inherited it and
  // started this one.
  if (real::stat("/proc/self/exe", &running) != 0 || running.st_ino != copy) return;
  own.ino = ino;
  own.generation = generation;
  memcpy(own.path, value, strlen(value) + 1);
  copied = true;
}

}  // namespace posix::self_exe
