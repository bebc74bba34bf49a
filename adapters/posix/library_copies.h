// Copies of covered programs and libraries in memory, for the loader.
#pragma once

#include "posix/find.h"

namespace posix {

// A private descriptor, or a negative errno. At `count` places of the file the copy says nothing (a tag of the dynamic section that
// no loader knows).
int changed_copy(const Found& found, const uint64_t* dropped, size_t count);
// One that is kept: the same file again must be the same library to the loader.
int kept_copy(const Found& found, const char* path, const uint64_t* dropped, size_t count);
// The path of what was copied, for a copy that is kept; or null.
const char* path_of_copy(int fd);

}  // namespace posix
