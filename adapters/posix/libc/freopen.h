// freopen gives back the stream that it was given, and programs count on it: they ignore what it
// returns, or reopen what a library keeps. So a stream of the C library's that is to be on a Cairn
// file must become one of ours where it lies.
#pragma once

#include <stdio.h>

namespace posix::streams {

// Only those that fopen and fdopen have made have the room.
bool can_turn(const FILE* file);

// `file`, open and not used since, now does what `donor` does, which fopencookie has made for
// `cookie`; the donor is left with none.
void turn(FILE* file, FILE* donor, void* cookie);

}  // namespace posix::streams
