// The data representation "external32" (MPI 4.1, section 14.5.2): big endian, sizes of its own for
// some types.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "mpiio/backend/datatype/elements.h"

namespace mpiio {

int64_t size_in_external32(MPI_Datatype predefined);

// Convert items that consist of `elements`, without gaps, until `bytes` bytes of external32 have
// been made or used up; only whole elements are used. Both return the number of bytes in memory's
// form.
int64_t to_external32(const std::vector<Element>& elements, const char* native, char* external,
                      int64_t bytes);
int64_t from_external32(const std::vector<Element>& elements, char* native, const char* external,
                        int64_t bytes);

}  // namespace mpiio
