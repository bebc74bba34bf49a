// Which paths are covered.
//
// Coverage is lexical: a path made absolute with the working directory, "." and ".." folded, is
// covered if it is a covered directory or lies below one. Calls on other paths must cost next to
// nothing, so the question is asked twice: outside() is quick and may say no where yes is right;
// locate() is exact.
#pragma once

#include <limits.h>

#include "posix/core/covers.h"

namespace posix {

bool maybe_covered(int dir, const char* path);
// True: the call goes to the system as it stands.
inline bool outside(int dir, const char* path) { return !active() || !maybe_covered(dir, path); }
inline bool outside(const char* path);

// Where a path starts to be ours.
struct Spot {
  Cover* cover;   // nullptr: outside; the system's call gets the path as it is
  cairn_ino dir;  // inside: the directory to walk from; 0: the cover's top, which is not joined yet
  const char* path;  // inside: what is left to walk, possibly ""
  int descriptor;    // the path names an open Cairn file (/proc/self/fd/N), else -1
  char text[2 * PATH_MAX];
};
// 0 or a negative errno. `dir` as in openat.
int locate(int dir, const char* path, Spot* spot);

// A real directory that the program opened by an uncovered path: remembered if it is an ancestor.
void note_directory(int fd, int dir, const char* path);

}  // namespace posix

#include <fcntl.h>
inline bool posix::outside(const char* path) { return outside(AT_FDCWD, path); }
