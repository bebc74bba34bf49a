// Handlers: the program's error handlers for files. Their argument is a pointer to the code that
// the call returns. In MPICH a handler may store another code there, which MPI_File_call_errhandler
// does not report.
#pragma once

#include <mpi.h>

namespace mpiio {

using ErrorHandler = void(MPI_File*, int*, ...);

// Returns the handler that the MPI gets in place of `handler`: it calls `handler` and records the
// code. Returns `handler` itself if the MPI keeps the code, or if there are too many handlers.
ErrorHandler* noting(ErrorHandler* handler);
// Calls the handler of `file` with `code`. Returns the code that the call is to return.
int handle(MPI_File file, int code);
// Returns true if MPI_File_call_errhandler calls the handler of MPI_FILE_NULL in this MPI.
bool handles_no_file();

}  // namespace mpiio
