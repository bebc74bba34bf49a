// Under which paths this node's pool has what is known by its inode: a descriptor of a FIFO says no more.
#pragma once

#include <string>
#include <vector>

#include "cluster/job.h"
#include "file/names.h"

namespace cairn::cluster {

// All names of what is no directory. Looked for in all directories that the pool knows, so for calls that are rare.
Result<std::vector<std::string>> paths_of(Job& job, const file::Seen& inode);

}  // namespace cairn::cluster
