// The lock under which names change: one change at a time in the job.
#pragma once

#include <string>

#include "cluster/names/intent.h"
#include "cluster/remote/name_broadcast.h"
#include "cluster/rpc/job.h"

namespace cairn::cluster {

// Calls call() under the lock under which names change: one at a time in the job. What a process
// that was killed with the lock had begun is finished before.
Status one_at_a_time(Job& job, const Intent& intent, const Step& call);
// For what is one step.
Status one_at_a_time(Job& job, const std::string& path, const Step& call);
// Takes the lock: here() makes a name on this node, `there` on the others, with the directories
// above it.
Status make_everywhere(Job& job, const Step& here, const NameChange& there, NameOp removal);

}  // namespace cairn::cluster
