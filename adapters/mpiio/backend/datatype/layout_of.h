// The layout of a datatype, in memory and in files of other data representations.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "mpiio/backend/datatype/layout.h"

namespace mpiio {

// The layout of a datatype, remembered with it for as long as it lives.
std::shared_ptr<const Layout> layout_of(MPI_Datatype datatype);

// May data be moved by it? Only if the program has committed it; asked of the MPI once, with a
// communicator that returns its errors.
bool is_committed(MPI_Datatype datatype, MPI_Comm comm);

// The size that a predefined type has in a file of another data representation.
using SizeInFile = std::function<int64_t(MPI_Datatype)>;
// The layout in such a file: what was given in extents of its parts follows their size, what was
// given in bytes stays.
Layout layout_in_file(MPI_Datatype datatype, const SizeInFile& size);

}  // namespace mpiio
