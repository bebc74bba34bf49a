// Pieces: moves bytes that are scattered in memory or in the file.
#pragma once

#include <cstdint>

#include "mpiio/backend/datatype/walk.h"
#include "mpiio/backend/file/direction.h"
#include "mpiio/backend/file/file.h"

namespace mpiio {

// Moves `size` bytes at the places of `memory`, counted from `buffer`, from byte `stream` of the
// view on. `*moved` grows by the bytes moved; they are fewer only after an error and at the end of
// file. For a file of several nodes, one request to each node covers all pieces of a call.
int move_pieces(const File& file, Direction direction, char* buffer, Walk memory, int64_t size,
                int64_t stream, int64_t* moved);

}  // namespace mpiio
