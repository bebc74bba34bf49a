// Finds the MPI that this process has loaded, without knowing any MPI: in the list of its loaded
// objects. Whoever loaded it, and however: Python does it with RTLD_LOCAL, where dlsym(RTLD_NEXT)
// finds nothing.
#pragma once

namespace cairn::mpi {

struct LoadedMpi {
  void* handle = nullptr;  // of its library; null: none that is known has been found
  const char* abi =
      nullptr;            // "openmpi", "mpich" or "mpiabi"; null: not one that Cairn is built for
  const char* says = "";  // MPI_Get_library_version
};

// Makes the symbols of the MPI visible to all, which the transport and the back ends need: they are
// linked to no MPI. Until one is found, each call looks again.
const LoadedMpi& find_mpi();

}  // namespace cairn::mpi
