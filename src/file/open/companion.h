// Companions: files of the system on which record locks are taken that stand for a file of the
// pool.
#pragma once

#include <string>

#include "file/inode/file_system.h"

namespace cairn::file {

// Where the companion of an inode lies.
std::string companion_path(const FileSystem& fs, const Map& map);

// A new descriptor, open for reading and writing, of the companion of a file; it is made if there
// is none. Locks of its description are its own.
Result<int> open_companion(const File& file);

}  // namespace cairn::file
