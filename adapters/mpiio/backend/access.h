// Moving bytes between a program's buffer and a file, through its view.
#pragma once

#include "mpiio/backend/file.h"

namespace mpiio {

enum class Direction : uint8_t { read, write };

// The bytes of `count` items of `datatype` at `buffer`, from byte `stream` of the view on. `*moved` are those
// that were read or written: fewer than asked for at the end of file. A class of errors.
int transfer(File& file, Direction direction, int64_t stream, void* buffer, int64_t count,
             MPI_Datatype datatype, int64_t* moved);

// What a status says of so many bytes.
void set_status(MPI_Status* status, int64_t bytes);

}  // namespace mpiio
