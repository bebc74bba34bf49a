// Programs that pass by every preloaded library: to them covered files are those of the directory
// below, and a covered working directory is none. What they then say does not lead anybody to the
// cause.
#pragma once

namespace posix {

// Tells of a program about to be started, if it is of that kind and has to do with the cover: by
// the working directory, or by a path among its arguments. `file` leads to it for the system.
void tell_if_passing_by(const char* file, const char* name, char* const* arguments);
// Would it?
bool has_to_tell(const char* file, char* const* arguments);

}  // namespace posix
