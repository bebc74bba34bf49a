// Nesting: covers do not nest, and none holds a pool.
#pragma once

#include <string>

#include "file/inode/file_system.h"
#include "tier/claim/membership.h"

namespace cairn::tier {

// ELOOP: the directory lies in a pool or in a covered directory, or holds one.
Status refuse_nested(file::FileSystem& fs, const std::string& path);
// ELOOP if what a cover holds must not be drained to this directory: it lies in a pool, or is
// covered itself. The path of the cover itself is fine.
Status refuse_elsewhere(const Cover& cover, const std::string& path);

}  // namespace cairn::tier
