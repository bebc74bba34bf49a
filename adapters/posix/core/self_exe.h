// The file that the running program was copied from (program_file.h), as its predecessor named it.
#pragma once

#include <limits.h>
#include <stdint.h>

#include "posix/core/engine.h"

namespace posix::self_exe {

struct Own {
  cairn_ino ino;
  uint64_t generation;
  char path[PATH_MAX];  // "" unless this program runs from a copy
};
extern Own own;

// Is this a name of /proc/self/exe, which is ours to answer?
bool is_named(const char* path);
// At start, with the value of CAIRN_PROGRAM.
void inherit(const char* value);

}  // namespace posix::self_exe
