// Host: the interface between the shim and a back end. Free of MPI: the shim is built without it.
#pragma once

#include <stdint.h>

#include "engine/api_table.h"
#include "engine/paths.h"

namespace mpiio {

// Every name exists twice, as MPI_name and as PMPI_name; each is forwarded to its own kind.
enum Kind : int { kMpi, kPmpi, kKinds };

// The shim's side.
struct Host {
  // Returns the MPI's own function of this name ("MPI_File_open"). If the MPI lacks a call with
  // MPI_Count, returns a function that makes the call with an int; else null.
  void* (*real)(const char* name);
  // The text from MPI_Get_library_version.
  const char* mpi;
  // The pool and its files, shared by all adapters of the process.
  const engine::ApiTable* engine;
  // Paths and descriptors of the POSIX adapter in the same library.
  const engine::Paths* paths;
  const char* version;
  // CLOCK_MONOTONIC at the first MPI call, before an MPI was looked for.
  uint64_t began_ns;
};

// A back end's side: returns Cairn's function for "File_open" and a kind. Null: it has none, and
// the MPI's is called.
using BackendFind = void* (*)(const char* name, int kind);
// Starts a back end; each lib/cairn/mpiio_NAME.so exports it as `cairn_mpiio_backend`. Null: the
// back end cannot work here, for the reason in `*why`.
using BackendStart = BackendFind (*)(const Host* host, const char** why);

}  // namespace mpiio
