// Results of calls that the program made: -1 and errno, for a negative errno of the C API.
#pragma once

namespace posix {

// Refuses a call on a covered file: logs one line per call, sets errno, returns -1.
int refuse(const char* call, const char* path, int error);
// Refuses a call on an open file, whose path is logged.
int refuse_descriptor(const char* call, int fd, int error);

// Sets errno from a negative result of the C API. Returns -1.
int fail(long negative_errno);
// Returns a count as it is; fails for a negative one.
inline long result(long value) { return value < 0 ? fail(value) : value; }

}  // namespace posix
