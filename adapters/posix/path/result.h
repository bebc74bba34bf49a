// Results of calls that the program made: errno and -1, for what the C API says by a negative
// errno.
#pragma once

namespace posix {

// A call that we do not serve on a covered file: one line per name, sets errno, returns -1.
int refuse(const char* call, const char* path, int error);
// The same, with the path of an open file.
int refuse_descriptor(const char* call, int fd, int error);

// Sets errno from a negative result of the C API; -1.
int fail(long negative_errno);
// The same for a result that may be a count.
inline long result(long value) { return value < 0 ? fail(value) : value; }

}  // namespace posix
