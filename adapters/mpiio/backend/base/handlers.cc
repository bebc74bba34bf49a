#include "mpiio/backend/base/handlers.h"

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "mpiio/backend/base/host_pointer.h"

namespace mpiio {
namespace {

bool is_mpich() {
  static const bool mpich = std::strstr(host->mpi, "MPICH") != nullptr;
  return mpich;
}

// Each handler has a function of its own, because the MPI passes nothing that tells handlers apart.
// The MPI's own bindings also route Fortran's and C++'s handlers here; their two arguments are
// pointers as well.
constexpr size_t most = 32;
std::mutex lock;
std::array<std::atomic<ErrorHandler*>, most> handlers;
thread_local MPI_File file_now = MPI_FILE_NULL;  // the file whose handler is being called
thread_local int code_now = MPI_SUCCESS;

template <size_t place>
void note(MPI_File* file, int* code, ...) {
  // The C++ binding passes an object of its own instead of the handle; after its handlers MPICH
  // returns no error.
  const bool cxx = *file != file_now;
  handlers[place].load()(file, code, 0);  // MPICH adds a 0
  code_now = cxx ? MPI_SUCCESS : *code;
}

template <size_t... places>
constexpr std::array<ErrorHandler*, most> notes(std::index_sequence<places...> /*all*/) {
  return {note<places>...};
}

// Returns true for MPI::ERRORS_THROW_EXCEPTIONS: the C++ function throws when it gets the code. In
// MPICH MPI_File_call_errhandler takes it for an error of its own, and ends the program.
bool throws(MPI_File file) {
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_File_get_errhandler(file, &handler);
  const bool found = handler == MPIR_ERRORS_THROW_EXCEPTIONS;
  PMPI_Errhandler_free(&handler);
  return found;
#else
  static_cast<void>(file);
  return false;
#endif
}

}  // namespace

ErrorHandler* noting(ErrorHandler* handler) {
  static constexpr auto all = notes(std::make_index_sequence<most>());
  if (handler == nullptr || !is_mpich()) return handler;
  const std::lock_guard guard(lock);
  for (size_t place = 0; place < most; ++place) {
    ErrorHandler* there = handlers[place];
    if (there != nullptr && there != handler) continue;
    handlers[place] = handler;
    return all[place];
  }
  return handler;
}

int handle(MPI_File file, int code) {
  if (throws(file)) return code;
  file_now = file;
  code_now = code;
  PMPI_File_call_errhandler(file, code);
  return code_now;
}

bool handles_no_file() { return is_mpich(); }

}  // namespace mpiio
