// Removal: removes pools, and their remnants.
#pragma once

#include <string>

#include "pool/lanes/attach_lock.h"

namespace cairn::pool {

// Removes the files of a pool that no process is attached to; from a device, its superblocks; or a
// hidden place that is a remnant. It refuses anything that does not begin as pools do (ENOENT),
// except an empty directory, and a symbolic link (ENOTDIR).
Status remove_files(const std::string& path, const MayGo& may_go = nullptr);

}  // namespace cairn::pool
