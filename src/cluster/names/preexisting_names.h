// Names without bytes that a node's pool has when the job begins (names.h): of an earlier job that
// was not drained and had other nodes, or made by programs that ran before. They are told to the
// nodes that do not have them, so that in the job all have them.
#pragma once

#include <string>
#include <vector>

#include "cluster/local/name_op.h"
#include "cluster/rpc/broadcast.h"

namespace cairn::cluster {

// What this node has, parents first. What it knows from the covered directory the others know from
// there.
Result<std::vector<NameChange>> preexisting_names(Job& job);
// A number for them, the same for the same names; 0: there are none.
uint64_t number_of_names(const std::vector<NameChange>& names);

// Once the servers of all nodes answer. Of nodes with the same names the first one tells them.
// EEXIST: a node has something else under one of them; all others are told.
Status tell_names(Job& job);

// One of them, as they are told, and telling them.
std::string told_as(const NameChange& name);
Status tell(const Job& job, const NodeNumbers& nodes, const std::string& names);
// The server's side: makes what another node tells, as `names` holds it.
Status make_told_names(Job& job, const std::string& names);

}  // namespace cairn::cluster
