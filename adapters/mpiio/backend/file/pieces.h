// Moving bytes that lie scattered in memory or in the file.
#pragma once

#include <cstdint>

#include "mpiio/backend/file/direction.h"
#include "mpiio/backend/file/file.h"
#include "mpiio/backend/datatype/walk.h"

namespace mpiio {

// `size` bytes that `memory` goes through, counted from `buffer`, from byte `stream` of the view
// on; `*moved` grows by what was moved, which is less only with an error and at the end of file. Of
// a file of several nodes, one question to each node covers all pieces of a call.
int move_pieces(const File& file, Direction direction, char* buffer, Walk memory, int64_t size,
                int64_t stream, int64_t* moved);

}  // namespace mpiio
