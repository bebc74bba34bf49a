// The bootstrap of a session: each process learns on which nodes the others are. First the
// processes of a host exchange their cards, then the first processes of the hosts, so that messages
// and memory grow with the hosts.
#pragma once

#include <mpi.h>

#include <string>

#include "cluster/mpi/ranks/node_shared.h"
#include "cluster/mpi/ranks/processes.h"
#include "cluster/mpi/ranks/roster.h"

namespace cairn::mpi {

struct Bootstrap {
  bool one_node = false;  // all are here; nothing else is filled in then
  std::string refused;    // why files cannot be shared, or ""
  NodeShared roster;
  NodeShared local;  // LocalProcess, in order of rank
};

// Collective over `comm`, a communicator of all processes. `on_one_node`: fills everything in where
// all are on one node, too.
void hold_bootstrap(MPI_Comm comm, const Card& own, bool on_one_node, Bootstrap* bootstrap);

// This process, without what is known of it elsewhere: its number, and its host.
Card card_of_process(int rank);

}  // namespace cairn::mpi
