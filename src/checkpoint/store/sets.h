// Sets: which sets a pool holds.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "file/inode/file_system.h"

namespace cairn::checkpoint {

// Their names, ascending. What is not named like a set does not count.
Result<std::vector<std::string>> list_sets(file::FileSystem& fs);

}  // namespace cairn::checkpoint
