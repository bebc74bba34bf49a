// Hints for MPI-IO: from a map to an MPI_Info, and those in force as a map.
#pragma once

#include <mpi.h>

#include "files/file.h"

namespace kernels {

// MPI_INFO_NULL for no hints; else the caller frees it.
MPI_Info make_info(const Hints& hints);
void free_info(MPI_Info* info);  // also MPI_INFO_NULL

// Returns the hints in force, by MPI_File_get_info.
Hints hints_of(MPI_File file);

}  // namespace kernels
