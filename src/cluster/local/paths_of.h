// Finds the paths under which this node's pool has an inode: of a FIFO, a descriptor tells no more
// than the inode.
#pragma once

#include <string>
#include <vector>

#include "cluster/rpc/job.h"
#include "file/namespace/names.h"

namespace cairn::cluster {

// All names of what is not a directory. It looks in all directories that the pool knows, so it is
// for rare calls.
Result<std::vector<std::string>> paths_of(Job& job, const file::Seen& inode);
// One of them: `before`, if it still is. Empty: it has none any more.
Result<std::string> path_now(Job& job, const std::string& before, const file::Seen& inode);

}  // namespace cairn::cluster
