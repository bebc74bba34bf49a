// The running program's own file.
//
// A program that lies in a cover runs from a copy in memory (program.cc), and the kernel's
// /proc/self/exe leads to the copy. Programs use it to find files that were installed beside them,
// and to start themselves again. So for the program itself, it leads to the file that was copied.
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "posix/core/engine.h"

namespace posix::program_file {

// Reads the link /proc/self/exe: the file's path, with " (deleted)" if that names another file now,
// or none.
ssize_t read_link(char* buffer, size_t size);
// A file about to be run, by the name under which it was found.
struct File {
  const Cover* cover;
  cairn_ino parent;
  const char* name;
  cairn_ino ino;
  uint64_t generation;
};
// Writes "CAIRN_PROGRAM=..." for the program about to be started from the descriptor `copy`, or ""
// if the path is too long.
constexpr size_t kMostText = PATH_MAX + 96;
void describe(const File& file, int copy, char* text, size_t capacity);
// Returns `environment` with that text, in `room` of environment_room() pointers. Returns it
// unchanged for a program without this library.
char* const* environment(char* const* from, char* text, char** room);
size_t environment_room(char* const* from);

}  // namespace posix::program_file
