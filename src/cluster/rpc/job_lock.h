// Locks of a job, which all its processes can take: words of one node's server (coordinator.h),
// which say who has them.
//
// Who waits for long asks the holder's node whether that process lives, and takes the lock away
// from one that does not. He is told what that one said that it does, and finishes it: it may be
// done on some nodes and not on others. For how long one is waited for that stands still, the job
// says (Job::still_waiting()).
#pragma once

#include <string>
#include <vector>

#include "cluster/rpc/job.h"

namespace cairn::cluster {

// This process, as its own node knows it: by its lane in the pool there.
uint64_t process_number(const Job& job);

// What the lock's keeper is told along with it, and what was told it by those from whom it was
// taken, the oldest first.
struct Told {
  std::string intent;
  std::vector<std::string> left;
};
// Not recursive. `home`: the lock's name at node `node`; `path`: what it is taken for.
Status lock(const Job& job, uint32_t node, uint64_t home, const std::string& path,
            Told* told = nullptr);
// `unfinished`: who has it next is told what was left again.
Status unlock(const Job& job, uint32_t node, uint64_t home, bool unfinished = false);

}  // namespace cairn::cluster
