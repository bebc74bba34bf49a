// Locks of a job, which all its processes can take: words of one node's server (coordinator.h),
// which say who has them.
//
// A process that waits for long asks the holder's node whether the holder lives, and takes the lock
// away from a dead one. It is told the dead holder's intent and finishes that, because some nodes
// may have done it and others not. For how long one is waited for that stands still, the job says
// (Job::still_waiting()).
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
// `unfinished`: the next holder is told again what was left.
Status unlock(const Job& job, uint32_t node, uint64_t home, bool unfinished = false);

}  // namespace cairn::cluster
