// Strangers: processes that run without Cairn, in a communicator with others that run under it. They are not in
// MPI_COMM_WORLD, because this job started them, or connected to theirs; or they are on other hosts than the launcher
// that `cairn run` is around.
//
// Where `cairn run` is around the launcher, those that it starts are served as this one is. Where it is around each rank, the
// MPI's daemons start them without it: they are in the MPI's own MPI_File_open then, where nobody can tell them anything, so
// that each process has to find by itself, and all find alike, that such a file cannot be opened.
#pragma once

#include <mpi.h>

namespace cairn::mpi {

// Are all ranks on other hosts strangers? Nobody may wait for them then.
bool are_on_other_hosts();
// MPI_Intercomm_merge has been called: no other call makes a communicator that holds strangers.
void may_come();
// Is this such a communicator, in a rank that is a run of its own? `*first`: is this the first rank of its MPI_COMM_WORLD there?
bool forbid(MPI_Comm comm, bool* first);

}  // namespace cairn::mpi
