// Conversion: the program's functions that convert values of its own data representation.
#pragma once

#include <mpi.h>

namespace mpiio {

// The type of these functions. Counts are ints (MPI_Register_datarep) or MPI_Counts
// (MPI_Register_datarep_c).
template <typename Count>
using Conversion = int(void* user, MPI_Datatype, Count, void* file, MPI_Offset position,
                       void* extra);

}  // namespace mpiio
