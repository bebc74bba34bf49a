// What the launcher's environment says of the job, before MPI_Init.
#pragma once

namespace cairn::mpi {

// False: all processes of the job are on one host. True: they may be on several, or nobody says.
bool may_span_hosts();
// True: they are on several, says the launcher.
bool spans_hosts();
// The first process of the job on this host, or nobody says.
bool is_first_here();

}  // namespace cairn::mpi
