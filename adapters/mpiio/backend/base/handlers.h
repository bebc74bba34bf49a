// Error handlers of the program's for files. Their argument is a pointer to the code that the call
// is to return: in MPICH they may put another one there, which MPI_File_call_errhandler does not
// tell.
#pragma once

#include <mpi.h>

namespace mpiio {

using ErrorHandler = void(MPI_File*, int*, ...);

// What the MPI gets in place of `handler`: it calls that and notes the code. In an MPI where the
// code stays as it is, and where there are too many of them, `handler` itself.
ErrorHandler* noting(ErrorHandler* handler);
// Lets the handler of `file` have `code`; what the call is to return then.
int handle(MPI_File file, int code);
// Does the MPI call the handler of MPI_FILE_NULL by MPI_File_call_errhandler?
bool handles_no_file();

}  // namespace mpiio
