// Operations on an open file by a path that leads to it and to no other file.
#pragma once

#include <cstdint>
#include <string>

#include "tier/system/system.h"

namespace cairn::tier {

// A path that leads to an open file, whatever its names are by now. It leads to a symbolic link
// itself, if that was opened (O_PATH).
std::string path_of_open(int fd);
// Sets the times of an open file that may be a symbolic link or opened with O_PATH.
int64_t set_times_of_open(int fd, uint64_t atime, uint64_t mtime);
// Gives an open file another name.
int64_t link_open_file(int fd, int directory, const char* name);

}  // namespace cairn::tier
