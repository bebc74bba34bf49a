// The running program's own file.
//
// A program that lies in a cover runs from a copy in memory (program.cc), and the kernel's
// /proc/self/exe leads to that copy. Programs find by it what was installed beside them, and start
// themselves again: for the program itself it leads to the file that was copied.
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "posix/core/engine.h"

namespace posix::program_file {

// What readlink says of it: its path, with " (deleted)" if that names another file by now, or none.
ssize_t read_link(char* buffer, size_t size);
// What is about to be run, by the name under which it was found.
struct File {
  const Cover* cover;
  cairn_ino parent;
  const char* name;
  cairn_ino ino;
  uint64_t generation;
};
// For the program about to be started from `copy`, a descriptor: "CAIRN_PROGRAM=..." into text; ""
// if it cannot be said.
constexpr size_t kMostText = PATH_MAX + 96;
void describe(const File& file, int copy, char* text, size_t capacity);
// `environment` with that text, in room of environment_room() pointers. Programs that do not know
// us get none.
char* const* environment(char* const* from, char* text, char** room);
size_t environment_room(char* const* from);

}  // namespace posix::program_file
