// Renaming of an ordinary file that lies in another node's pool.
#pragma once

#include <string>

#include "cluster/rpc/job.h"

namespace cairn::cluster {

// The lock under which names change is held. Other nodes remove what they have of the new name;
// this node's pool and the record are the caller's. With `keep` nothing is removed: EEXIST if a
// node has the new name. ENOENT: no other node has such a file.
Status rename_remote(Job& job, const std::string& from, const std::string& to, bool keep);

}  // namespace cairn::cluster
