// Lets the program's error handlers have the errors of our calls.
#pragma once

#include <mpi.h>

namespace mpiio {

// Lets the error handler of `file` (or of MPI_FILE_NULL) have it; the code that the call is to
// return then.
int raise_error(MPI_File file, int code);
inline int raise(MPI_File file, int code) {
  return code == MPI_SUCCESS ? MPI_SUCCESS : raise_error(file, code);
}

}  // namespace mpiio
