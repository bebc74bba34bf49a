// Reads the launcher's environment variables, before MPI_Init: does the job span hosts?
#pragma once

namespace cairn::mpi {

// False: all processes of the job are on one host. True: they may be on several, or no
// variable tells.
bool may_span_hosts();
// True: the launcher says that they are on several hosts.
bool spans_hosts();
// True: this is the first process of the job on this host, or no variable tells.
bool is_first_here();

}  // namespace cairn::mpi
