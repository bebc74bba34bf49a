// The working directory.
//
// While it is covered, the kernel's working directory is an empty directory that has been removed.
// A relative path in a call that does not come through this library finds nothing there, and never
// a file below the cover. Programs started from this process get the covered directory by
// CAIRN_CWD.
#pragma once

#include <stddef.h>

#include "posix/core/engine.h"

namespace posix {

namespace cwd {

enum class Where { kUnknown, kOutside, kAncestor, kCovered };

struct Current {
  Cover* cover;
  cairn_ino ino;
};

// While it lives, no other thread asks where the process is, and no handler runs in this thread.
class Still {
 public:
  Still();
  ~Still();
  Still(const Still&) = delete;
  Still& operator=(const Still&) = delete;

 private:
  Inside inside_;
};

// Tells where the process is. Fast; asks the kernel after a change. If the kernel's directory is
// covered, the process leaves it. So it must not be called between describe() and the start of a
// program.
Where where();
// Tells whether the directory is covered. The process does not leave it.
bool is_covered();
// Returns the kernel's path if the directory is outside, or null if it has none.
const char* path();
// Returns the directory, if covered.
Current current();

// Call it after a real chdir to a directory outside.
void moved_outside();
// Enters a directory of ours, if the inode still has this generation (0: any). Returns 0 or a
// negative errno.
int enter(Cover* cover, cairn_ino ino, uint64_t generation);

// Writes "CAIRN_CWD=..." for a program about to be started, if the directory is covered. Returns
// the length, or 0.
size_t describe(char* text, size_t capacity);
// Reads the value of CAIRN_CWD, at the start.
void inherit(const char* value);

}  // namespace cwd
}  // namespace posix
