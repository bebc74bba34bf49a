// A shared file as an ordinary open file for reading by name.
#pragma once

#include <memory>
#include <string>

#include "cluster/rpc/job.h"
#include "file/open/open_file.h"

namespace cairn::cluster {

// As the last commit left it; `flags` as for open(2). No permission is looked at. ENOENT: there is
// no such shared file.
Result<std::unique_ptr<file::File>> open_shared_reader(Job& job, const std::string& path,
                                                       int flags);

}  // namespace cairn::cluster
