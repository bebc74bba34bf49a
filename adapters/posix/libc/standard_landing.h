// Streams of ours come into the place of the C library's standard ones (standard_streams.h).
#pragma once

namespace posix::streams {

// At start, before the program and its libraries look.
void install();

}  // namespace posix::streams
