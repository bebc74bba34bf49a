// Decides which paths are covered.
//
// Coverage is decided from the path string: a path made absolute with the working directory, with
// "." and ".." folded, is covered if it is a covered directory or lies below one. Calls on other
// paths must cost next to nothing, so there are two questions. outside() is fast; if it returns
// false, the path may still be outside. locate() is exact.
#pragma once

#include <limits.h>

#include "posix/core/covers.h"

namespace posix {

bool maybe_covered(int dir, const char* path);
// Returns true if the system gets the call as it is.
inline bool outside(int dir, const char* path) { return !active() || !maybe_covered(dir, path); }
inline bool outside(const char* path);

// The part of a path that lies in a cover.
struct CoveredPath {
  Cover* cover;      // null: outside; the system's call gets the path as it is
  cairn_ino dir;     // inside: the walk starts here; 0: at the cover's top, which is not joined yet
  const char* path;  // inside: the rest to walk, possibly ""
  int descriptor;    // the open Cairn file that the path names (/proc/self/fd/N), else -1
  char text[2 * PATH_MAX];
};
using Spot = CoveredPath;  // posix/job still says Spot
// Returns 0 or a negative errno. `dir` as in openat.
int locate(int dir, const char* path, CoveredPath* spot);

// Remembers a real directory that the program opened by an uncovered path, if it is an ancestor.
void note_directory(int fd, int dir, const char* path);

}  // namespace posix

#include <fcntl.h>
inline bool posix::outside(const char* path) { return outside(AT_FDCWD, path); }
