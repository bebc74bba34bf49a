// Removing pools, and their remains.
#pragma once

#include <string>

#include "pool/lanes/attach_lock.h"

namespace cairn::pool {

// Removes the files of a pool that no process is attached to; from a device, its superblocks; or a
// hidden place that is left over. What does not begin as pools do is not touched (ENOENT), but for
// an empty directory; nor is a symbolic link (ENOTDIR).
Status remove_files(const std::string& path, const MayGo& may_go = nullptr);

}  // namespace cairn::pool
