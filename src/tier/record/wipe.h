// Removes a whole tree of the pool, of any size, without changing lower.
#pragma once

#include <string>

#include "file/inode/file_system.h"

namespace cairn::tier {

// Removes directory `name` of `parent` and all that is below it. Succeeds if there is none.
Status wipe(file::FileSystem& fs, uint64_t parent, const std::string& name);

}  // namespace cairn::tier
