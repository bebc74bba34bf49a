// The file that the running program was copied from (program_file.h), as the process before exec
// named it.
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

// Returns true if this is a name of /proc/self/exe and the program runs from a copy.
bool is_named(const char* path);
// Reads the value of CAIRN_PROGRAM, at the start.
void inherit(const char* value);

}  // namespace posix::self_exe
