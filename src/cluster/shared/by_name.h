// Changes a shared file by its name, by one process alone: for calls that know nothing of groups.
#pragma once

#include <string>

#include "cluster/rpc/file_change.h"
#include "cluster/rpc/job.h"

namespace cairn::cluster {

// Each gives ENOENT if there is none.

// Removes the name, this node's part, and what other nodes can be reached to remove.
Status remove_shared(Job& job, const std::string& path);
// Removes what the covered directory itself has under the name, if that is not a directory. Other
// nodes neither find it nor take its bytes for those of a new file. 1: it was there, 0: it was not.
Result<int> remove_below(Job& job, const std::string& path);
// A process that has the file open sees the new size when it commits.
Status set_size(Job& job, const std::string& path, uint64_t size);
Status set_attributes(Job& job, const std::string& path, const NewAttributes& attributes);
// Another shared file of the new name is replaced, or with `keep` EEXIST. EBUSY while it is open;
// EXDEV if bytes come from the file in the covered directory, which keeps its name.
Status rename_shared(Job& job, const std::string& from, const std::string& to, bool keep);

// The parts of what was a record, on all nodes that can be reached; others remove theirs when they
// next join a job.
Status remove_parts(Job& job, const Record& record);

}  // namespace cairn::cluster
