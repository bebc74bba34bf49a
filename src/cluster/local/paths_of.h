// Under which paths this node's pool has what is known by its inode: a descriptor of a FIFO says no
// more.
#pragma once

#include <string>
#include <vector>

#include "cluster/rpc/job.h"
#include "file/namespace/names.h"

namespace cairn::cluster {

// All names of what is no directory. Looked for in all directories that the pool knows, so for
// calls that are rare.
Result<std::vector<std::string>> paths_of(Job& job, const file::Seen& inode);
// One of them: `before`, if it still is. Empty: it has none any more.
Result<std::string> path_now(Job& job, const std::string& before, const file::Seen& inode);

}  // namespace cairn::cluster
