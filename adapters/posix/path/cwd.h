// The working directory.
//
// While it is covered, the kernel's working directory is an empty directory that has been removed:
// a call with a relative path that does not come through us finds nothing there, instead of acting
// on what lies below the cover. Who is started from us learns the real one from CAIRN_CWD.
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

// While it lives, no thread is finding out where the process is, nor does a handler run here.
class Still {
 public:
  Still();
  ~Still();
  Still(const Still&) = delete;
  Still& operator=(const Still&) = delete;

 private:
  Inside inside_;
};

// Cheap; asks the kernel after a change, and leaves the kernel's directory if that is covered: not
// between describe() and the start of a program.
Where where();
// The same question, and nothing is left.
bool is_covered();
// The kernel's path, if outside; nullptr if it has none.
const char* path();
// If covered.
Current current();

// The working directory is now somewhere outside (after a real chdir).
void moved_outside();
// Enters a directory of ours, if its number still means that of this generation (0: any). 0 or a
// negative errno.
int enter(Cover* cover, cairn_ino ino, uint64_t generation);

// For a program about to be started: "CAIRN_CWD=..." into text if the directory is covered; its
// length.
size_t describe(char* text, size_t capacity);
// At start, with the value of CAIRN_CWD.
void inherit(const char* value);

}  // namespace cwd
}  // namespace posix
