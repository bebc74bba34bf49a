// Undertaking: what a process does with names under the lock under which they change. The lock's keeper knows it, so that somebody else can finish
// it if that process is killed: then it is done on all nodes, or on none.
#pragma once

#include <string>

#include "cluster/name_change.h"

namespace cairn::cluster {

struct Undertaking {
  NameChange change;   // as that process's own node makes it, which is the first one
  Uuid renaming = {};  // of what all nodes have: its note (renaming.h)
};

std::string packed(const Undertaking& undertaking);
// The lock is held, which was that process's.
Status finish(Job& job, const std::string& packed_undertaking);

}  // namespace cairn::cluster
