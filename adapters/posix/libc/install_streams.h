// Replaces the C library's standard streams by ours (standard_streams.h).
#pragma once

namespace posix::streams {

// Runs at the start, before the program and its libraries use the streams.
void install();

}  // namespace posix::streams
