// Programs that LD_PRELOAD cannot intercept: they see the directory below the cover, and no covered
// working directory. Their own error messages do not show the cause.
#pragma once

namespace posix {

// Logs a warning if such a program is about to be started and uses the cover: by the working
// directory, or by a path among its arguments. `file` leads the system to the program.
void warn_if_unpreloadable(const char* file, const char* name, char* const* arguments);
// Returns true if it would warn.
bool would_warn(const char* file, char* const* arguments);

}  // namespace posix
