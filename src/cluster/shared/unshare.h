// A shared file becomes an ordinary file of the covered directory in this node's pool: for jobs on
// one node, and for calls that can write no other.
#pragma once

#include <string>

#include "cluster/rpc/job.h"

namespace cairn::cluster {

// The part's second name among the parts, before it is renamed into the cover.
inline constexpr const char* unshared_suffix = ".plain";

// ENOENT if there is no such shared file; EBUSY while it is open; EIO names a node that holds bytes
// of it and is none of the job's, ESTALE a file in lower that changed; ENOSPC. `empty`: without its
// contents. Killed at any moment it can be done again.
Status unshare(Job& job, const std::string& path, bool empty);

}  // namespace cairn::cluster
