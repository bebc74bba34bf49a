// stdin, stdout and stderr: the C library's own streams read and write descriptors 0 to 2 by themselves,
// past every wrapper. So the variables name streams of ours from the start, which serve whatever the numbers
// are, Cairn files or not. If a number becomes a Cairn file before that, what was buffered and not yet
// written goes along.
#pragma once

#include <stdio.h>

namespace posix::streams {

// At start, before the program and its libraries look.
void install();

// Descriptor 0, 1 or 2 has just been opened, replaced or closed.
void landed(int fd);

// Is `file` what the program knows as the standard stream of this number?
bool is_standard(int fd, FILE* file);
// What the program knows as that now, if `file` was it; else `file`.
FILE* current(int fd, FILE* file);
// A stream of ours is being closed.
void forget(FILE* file);

}  // namespace posix::streams
