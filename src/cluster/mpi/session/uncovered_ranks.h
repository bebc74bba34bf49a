// Finds processes that run without Cairn in a communicator with others that run under it. They are
// not in MPI_COMM_WORLD, because this job started them or connected to them. Or they are on other
// hosts than the launcher that `cairn run` is around.
//
// Where `cairn run` is around the launcher, the processes that it starts are served as this one is.
// Where it is around each rank, the MPI's daemons start processes without it. Those are in the
// MPI's own MPI_File_open then, and cannot be told anything. So each process finds by itself, and
// all find alike, that such a file cannot be opened.
#pragma once

#include <mpi.h>

namespace cairn::mpi {

// Do all ranks on other hosts run without Cairn? Then no rank may wait for them.
bool are_on_other_hosts();
// MPI_Intercomm_merge has been called: no other call makes a communicator with such ranks.
void may_come();
// Is this such a communicator, in a rank that is a run of its own? `*first`: is this the first rank
// of its MPI_COMM_WORLD there?
bool forbid(MPI_Comm comm, bool* first);

}  // namespace cairn::mpi
