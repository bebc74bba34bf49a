// Finds out if a name of the pool is at home: it has the same place in lower.
#pragma once

#include <optional>
#include <string>

#include "file/inode/file_system.h"
#include "file/namespace/directory.h"

namespace cairn::tier {

// The name of an inode in the directory that it was imported or drained into, if the pool still has
// it there (is_at_home) and lower has it. A directory that a drain has made in lower and not
// finished is at home too; lower is read for each file in it.
std::optional<file::Listed> name_at_home(file::FileSystem& fs, const file::Map& map);
// The path in lower of a directory that is at home, like all directories above it up to the top of
// a cover; relative to the top, with a '/' before each name.
std::optional<std::string> home_of_directory(file::FileSystem& fs, uint64_t directory);
// Are the directory and all those above it, up to the top of a cover, at home?
bool is_directory_at_home(file::FileSystem& fs, uint64_t directory);

}  // namespace cairn::tier
