// Refuses nested covers, and covers that hold a pool.
#pragma once

#include <string>

#include "file/inode/file_system.h"
#include "tier/claim/membership.h"

namespace cairn::tier {

// ELOOP: the directory lies in a pool or in a covered directory, or holds one.
Status refuse_nested(file::FileSystem& fs, const std::string& path);
// ELOOP: a cover must not be drained to this directory, because it lies in a pool or is covered
// itself. The cover's own path is allowed.
Status refuse_elsewhere(const Cover& cover, const std::string& path);

}  // namespace cairn::tier
