// Asks the servers of other nodes to change names.
#pragma once

#include <functional>
#include <string>

#include "cluster/local/name_op.h"
#include "cluster/rpc/broadcast.h"
#include "cluster/rpc/job.h"

namespace cairn::cluster {

using Step = std::function<Status()>;

// Asks these nodes, of which this is none; those where something has changed go to `changed`.
Status change_on(const Job& job, const NodeNumbers& nodes, const NameChange& change,
                 NodeNumbers* changed);
// `change` on all nodes but this one.
Status on_others(const Job& job, const NameChange& change);
// here() first, then `there` on the others; where these cannot, `undo` takes it back.
Status everywhere_after(Job& job, const Step& here, const NameChange& there,
                        const NameChange& undo);
// As everywhere_after(), where the step here is a change as well.
Status everywhere(Job& job, const NameChange& here, const NameChange& there,
                  const NameChange& undo);
// Directories that were here before the job began need not be on the others: makes those above
// `path` there.
Status make_parents(Job& job, const std::string& path);
// Has any of these nodes a file of the name?
Result<bool> has_file(const Job& job, const NodeNumbers& nodes, const std::string& path);

}  // namespace cairn::cluster
