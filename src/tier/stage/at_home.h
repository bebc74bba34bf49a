// A name of the pool is at home if it has the same place in lower.
#pragma once

#include <optional>
#include <string>

#include "file/inode/file_system.h"
#include "file/namespace/directory.h"

namespace cairn::tier {

// The name of an inode in the directory that it was imported or drained into, if it still is what a
// drain or an import has noted (is_at_home), and lower has it. A directory that a drain has made
// there and not finished is at home, too: of each file, lower is asked.
std::optional<file::Listed> name_at_home(file::FileSystem& fs, const file::Map& map);
// The path in lower of a directory that is there where it is in the pool, all the way up to the top
// of a cover; relative to that, with a '/' before each name.
std::optional<std::string> home_of_directory(file::FileSystem& fs, uint64_t directory);
// Is the directory in lower where it is in the pool, all the way up to the top of a cover?
bool is_directory_at_home(file::FileSystem& fs, uint64_t directory);

}  // namespace cairn::tier
