// Collecting ahead: while programs run, a keeper writes its node's shares of files that several
// nodes write to lower, with their marks (collect.h). The files get their names when the run ends,
// and then little is left to do.
//
// The keeper writes a share once no process of this node has the file open, and once it has been
// quiet. If the file is written again, the share is written again: a node has its own, by its
// part's change time and by a hard link to the aside file. Other nodes do not count it before this
// node's run has ended, so no file is put together while a program of the job may write it.
#pragma once

#include "tier/cover/cover.h"
#include "tier/cover/drain.h"

namespace cairn::cluster {

// Adds to the report; shares that are left to a later call count as postponed. `calls` has
// `while_running`. EIO if something failed, ECANCELED.
Status collect_ahead(tier::Cover& cover, const tier::DrainCalls& calls, tier::DrainReport* report);

}  // namespace cairn::cluster
