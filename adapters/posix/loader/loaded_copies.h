// Which covered files are loaded into this process, from copies in memory.
//
// The loader takes a file for the same library as one that is loaded if it has its name, or is the
// same file; then it does not read it. Of covered files it knows neither: so it is kept here which
// of them it has, by their numbers in the pool, under the name that the loader has for them (their
// path: library_copies.h). What it unloads is forgotten when the next one is looked for. Copies are
// closed as soon as they are loaded.
//
// The loader holds its lock while the constructors of libraries run, which may come here: so
// nothing of its is called with ours held.
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

// Is it loaded? Its name for the loader goes to `name`, of PATH_MAX.
bool find(const File& file, char* name);

// As dlopen, from a copy of it. Another thread may be at the same file: both get the same library.
void* open(const File& file, int copy, int flags);

// At the start: the program was to get this one in LD_PRELOAD. False: it has not.
bool given(const File& file, int copy);

// The path of what is loaded under this name for the loader, which for a copy is not settled before
// its constructors have run. Goes to `room`, of PATH_MAX, if it has to.
const char* path_of(const char* name, char* room);

// Releases, in the child of a fork, the list, which another thread of the parent held.
void after_fork();

}  // namespace posix::loaded
