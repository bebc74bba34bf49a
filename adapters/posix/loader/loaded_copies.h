// Remembers which covered files this process has loaded from copies in memory.
//
// The loader recognises a loaded library by its name or by its file, without reading it. It knows
// neither of a covered file. So this list has the files by their numbers in the pool, and the name
// that the loader has for each (its path: library_copies.h). An entry is removed at the next search
// after the loader has unloaded the library. Copies are closed as soon as they are loaded.
//
// The loader holds its lock while it runs the constructors of libraries, which may call these
// functions. So they call the loader only without their own lock.
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "posix/core/engine.h"

namespace posix::loaded {

struct File {
  cairn_ino ino;
  uint64_t generation;
  const char* path;  // absolute
};

// Returns true if the file is loaded, and writes its name for the loader to `name`, of PATH_MAX
// bytes.
bool find(const File& file, char* name);

// Loads the file from a copy, as dlopen does. Threads that load one file concurrently get the same
// library.
void* open(const File& file, int copy, int flags);

// Notes at the start that the program was to get this file in LD_PRELOAD. Returns false if it did
// not.
bool given(const File& file, int copy);

// Returns the path of the library with this name for the loader. A copy has another name until its
// constructors have run; then the path is written to `room`, of PATH_MAX bytes.
const char* path_of(const char* name, char* room);

// Releases, in the child of a fork, the list, which another thread of the parent held.
void after_fork();

}  // namespace posix::loaded
