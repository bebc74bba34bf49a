// Renaming to a name that must be free on all nodes. Files get their names without the lock under
// which this is done: a process that finds another file of the name after its rename takes the
// rename back.
#pragma once

#include <string>

#include "cluster/local/local_entry.h"
#include "cluster/remote/name_broadcast.h"
#include "cluster/rpc/job.h"

namespace cairn::cluster {

// The EEXIST of a name that a node has.
Status already_there(const std::string& path);
// Under the lock. EEXIST: a node has something of the name, or it is a shared file's.
Status check_free(Job& job, const std::string& path);
// Checks that the name is free; then rename() gives it to a file of node *holder (`nodes()`: to a
// shared file). If another node has created the name meanwhile, back() takes it away again.
Status rename_if_free(Job& job, const std::string& path, const uint32_t* holder, const Step& rename,
                      const Step& back);

// Other nodes' pools have the name too: what has no bytes, or what they know from the covered
// directory.
bool is_on_others(const LocalEntry& entry);
// Under the lock: whether another node has a file of the name; 0 or 1.
Result<int> is_remote(Job& job, const std::string& path);

}  // namespace cairn::cluster
