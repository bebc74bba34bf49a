// Streams of ours come into the place of the C library's standard ones (standard_streams.h).
#pragma once

namespace posix::streams {

// At start, before the program and its libraries look.
void install();

// Descriptor 0, 1 or 2 has just been opened, replaced or closed.
void landed(int fd);

}  // namespace posix::streams
