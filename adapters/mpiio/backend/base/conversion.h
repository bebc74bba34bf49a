// Functions of the program that convert values of a data representation of its own.
#pragma once

#include <mpi.h>

namespace mpiio {

// What a program converts with: counts are ints (MPI_Register_datarep) or MPI_Counts
// (MPI_Register_datarep_c).
template <typename Count>
using Conversion = int(void* user, MPI_Datatype, Count, void* file, MPI_Offset position,
                       void* extra);

}  // namespace mpiio
