// The processes that have a file open together, as cairn/adapter/shared.h wants them: over the
// file's communicator.
#pragma once

#include <mpi.h>

#include "cairn/adapter/shared.h"

namespace mpiio {

// `comm` must stay where it is for as long as the group is used.
cairn_group group_of(MPI_Comm* comm, int rank, int ranks);

}  // namespace mpiio
