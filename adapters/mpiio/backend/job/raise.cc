#include "mpiio/backend/job/raise.h"

#include "cluster/mpi/session/session.h"
#include "mpiio/backend/base/handlers.h"
#include "mpiio/backend/base/real.h"

namespace mpiio {

int raise_error(MPI_File file, int code) {
  if (file != MPI_FILE_NULL || handles_no_file()) return handle(file, code);
  if (!cairn::mpi::has_world()) return code;
  // A file of this moment gets the handler of MPI_FILE_NULL. (MPICH counts such handlers wrongly,
  // and ends the program when one is counted below 0.)
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_File_get_errhandler(MPI_FILE_NULL, &handler);
  MPI_File shadow = MPI_FILE_NULL;
  if (handler != MPI_ERRORS_RETURN &&
      real::File_open[kPmpi](MPI_COMM_SELF, shadow_path, MPI_MODE_RDWR, MPI_INFO_NULL, &shadow) ==
          MPI_SUCCESS) {
    PMPI_File_set_errhandler(shadow, handler);
    PMPI_File_call_errhandler(shadow, code);
    real::File_close[kPmpi](&shadow);
  }
  if (handler != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler);
  return code;
}

}  // namespace mpiio
