// Companions: files of the operating system on which the record locks of a pool's files are taken.
#pragma once

#include <string>

#include "file/inode/file_system.h"

namespace cairn::file {

// Returns the path of an inode's companion.
std::string companion_path(const FileSystem& fs, const Map& map);

// Opens a file's companion for reading and writing, and creates it if there is none. Each call
// returns a new open file description with locks of its own.
Result<int> open_companion(const File& file);

}  // namespace cairn::file
