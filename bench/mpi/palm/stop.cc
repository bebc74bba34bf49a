// How a rank ends the job when a call fails.
#include <mpi.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "back_end.h"

namespace palm {

[[noreturn]] void stop(const std::string& what) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "palm: rank %d: %s\n", rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void must(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  stop(what + ": " + text);
}

void must_posix(bool holds, const std::string& what) {
  if (!holds) stop(what + ": " + std::strerror(errno));
}

}  // namespace palm
