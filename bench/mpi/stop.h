// How a rank ends the job when a call fails: with a line that names the program, the rank and the
// cause.
#pragma once

#include <errno.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace bench {

[[noreturn]] inline void stop(const std::string& what) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "%s: rank %d: %s\n", program_invocation_short_name, rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

inline std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

// An MPI call has to return MPI_SUCCESS.
inline void must(int code, std::string_view what) {
  if (code != MPI_SUCCESS) stop(std::string(what) + ": " + error_text(code));
}

// A system call has to have worked, or errno says why not.
inline void must_posix(bool holds, std::string_view what) {
  if (!holds) stop(std::string(what) + ": " + std::strerror(errno));
}

}  // namespace bench
