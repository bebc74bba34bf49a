// The predefined types that a datatype consists of, in the order of its type map.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace mpiio {

struct Element {
  MPI_Datatype type;
  int64_t count;
};

// Returns the elements of one item.
std::vector<Element> elements_of(MPI_Datatype datatype);

}  // namespace mpiio
