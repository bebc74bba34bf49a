// Removing a whole tree of the pool, whatever its size; what lies in lower stays as it is.
#pragma once

#include <string>

#include "file/inode/file_system.h"

namespace cairn::tier {

// Removes directory `name` of `parent` and all that is below it. Fine if it is not there.
Status wipe(file::FileSystem& fs, uint64_t parent, const std::string& name);

}  // namespace cairn::tier
