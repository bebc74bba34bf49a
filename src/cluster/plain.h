// A shared file that is all here becomes an ordinary file of the covered directory: for jobs on one node.
#pragma once

#include <string>

#include "cluster/job.h"

namespace cairn::cluster {

// The part's second name among the parts, before it is renamed into the cover.
inline constexpr const char* plain_suffix = ".plain";

// ENOENT if there is no such shared file; EIO names the node whose part is missing, ESTALE a file in lower that changed.
// Killed at any moment it can be done again.
Status make_plain(Job& job, const std::string& path);

}  // namespace cairn::cluster
