// What the shim and a back end say to each other. Free of MPI: the shim is built without it.
#pragma once

#include <stdint.h>

#include "engine/api_table.h"
#include "engine/paths.h"

namespace mpiio {

// Every name is there twice, as MPI_name and as PMPI_name; each is forwarded to its own kind.
enum Kind : int { kMpi, kPmpi, kKinds };

// The shim's side.
struct Host {
  // The MPI's own function of this name ("MPI_File_open"); for a call with MPI_Count that it has
  // not, one that makes the call with an int; else null.
  void* (*real)(const char* name);
  // What MPI_Get_library_version says.
  const char* mpi;
  // The pool and its files, as all adapters of the process have them.
  const engine::ApiTable* engine;
  // Paths and descriptors, as the POSIX adapter in the same library has them.
  const engine::Paths* paths;
  const char* version;
  // CLOCK_MONOTONIC at the first MPI call, before an MPI was looked for.
  uint64_t began_ns;
};

// A back end's side: our function for "File_open" and a kind; null if it has none, then the MPI's
// is called.
using BackendFind = void* (*)(const char* name, int kind);
// Exported by each lib/cairn/mpiio_NAME.so as `cairn_mpiio_backend`. Null: it cannot work here,
// `*why` says why.
using BackendStart = BackendFind (*)(const Host* host, const char** why);

}  // namespace mpiio
