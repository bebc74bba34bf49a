// Returns layouts of datatypes, in memory and in files of other data representations.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "mpiio/backend/datatype/layout.h"

namespace mpiio {

// Returns the layout of a datatype, which is kept with the datatype while it lives.
std::shared_ptr<const Layout> layout_of(MPI_Datatype datatype);

// Returns true if the program has committed the datatype, so that data may be moved by it. Asks the
// MPI once, with a communicator that returns its errors.
bool is_committed(MPI_Datatype datatype, MPI_Comm comm);

// Returns the size of a predefined type in a file of another data representation.
using SizeInFile = std::function<int64_t(MPI_Datatype)>;
// Returns the layout in such a file: displacements given in extents follow the size of the parts,
// those given in bytes stay.
Layout layout_in_file(MPI_Datatype datatype, const SizeInFile& size);

}  // namespace mpiio
