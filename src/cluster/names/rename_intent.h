// RenameIntent renames what all nodes have, on all of them or on none, also if a process, or the
// whole job, is killed in the middle.
//
// Before the first pool is changed, what is going to be done is written down in the covered
// directory (docs/format/renaming.md). It is removed when all nodes have done it. A process that
// finds such a note finishes what it says. In the job, that is the process that takes the lock
// under which names change away from a dead one; afterwards each node does so in its own pool,
// before that is drained or used by the next run.
//
// Invariants
//  1. The note comes and goes under the lock: while a job lives and it is there, no name that all
//  nodes have changes otherwise.
//  2. It can be finished any number of times, from any point: a node that has the old name has not
//  done it yet.
//  3. Records go with their directory in one rename, which is the last step.
#pragma once

#include <string>

#include "cluster/record/records_directory.h"
#include "cluster/rpc/job.h"
#include "tier/cover/cover.h"

namespace cairn::cluster {

struct RenameIntent {
  Uuid id = {};
  std::string from;
  std::string to;
  std::vector<Uuid> pools;  // of the job's nodes
};

// Under the lock, before anything is changed, and after all is.
Status announce(const Job& job, const RenameIntent& renaming);
Status end_renaming(const RecordsOf& of, const Uuid& id);

// Called by the process that has taken the lock from one whose intent this is: finishes it on all
// nodes. Does nothing if it was not announced or is over.
Status finish_renaming(Job& job, const Uuid& id);
// Of jobs that are over, in this node's pool, while no process here uses the cover.
Status finish_renamings(file::FileSystem& fs, const std::string& directory);
// This node's pool throws away what it has.
Status forget_renamings(file::FileSystem& fs, const std::string& directory);

}  // namespace cairn::cluster
