// Loads the transport for the MPI of this process, once per process: libcairn may be there twice,
// preloaded and linked.
#pragma once

#include <string>

#include "cluster/mpi/loader/find_mpi.h"
#include "cluster/mpi/loader/module.h"

namespace cairn::mpi {

// Null: `*why` says why, and `*error` is ENOPKG or ELIBBAD. mpi.abi must not be null.
const Module* load_transport(const LoadedMpi& mpi, int* error, std::string* why);

// Why dlopen() has just failed for one of the libraries that are built for each MPI.
std::string why_not_loaded(const std::string& path);

}  // namespace cairn::mpi
