// Turns a stream of the C library's into one of ours, in the same memory. freopen returns the
// stream that it was given, and programs count on it: they ignore the result, or reopen a stream
// that a library keeps.
#pragma once

#include <stdio.h>

namespace posix::streams {

// Returns true for streams of fopen and fdopen: only these have the space.
bool can_turn(const FILE* file);

// Makes `file`, which is open and not used yet, act as `donor`, a stream of fopencookie for
// `cookie`. Takes the cookie from the donor.
void turn(FILE* file, FILE* donor, void* cookie);

}  // namespace posix::streams
