// stdin, stdout and stderr on Cairn files: the C library's own streams read and write descriptors 0 to 2
// by itself, past every wrapper. While such a number is a Cairn file, the variable (stdin, stdout, stderr)
// names a stream of ours instead; what was buffered and not yet written goes along.
#pragma once

#include <stdio.h>

namespace posix::streams {

// Descriptor 0, 1 or 2 has just been opened, replaced or closed.
void landed(int fd);

// Is `file` what the program knows as the standard stream of this number?
bool is_standard(int fd, FILE* file);
// What the program knows as that now, if `file` was it; else `file`.
FILE* current(int fd, FILE* file);
// A stream of ours is being closed.
void forget(FILE* file);

}  // namespace posix::streams
