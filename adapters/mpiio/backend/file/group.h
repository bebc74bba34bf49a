// Group: gives cairn/adapter/shared.h the processes that have a file open together, over the file's
// communicator.
#pragma once

#include <mpi.h>

#include "cairn/adapter/shared.h"

namespace mpiio {

// Makes a group; `comm` must stay where it is while the group is used.
cairn_group group_of(MPI_Comm* comm, int rank, int ranks);

}  // namespace mpiio
