// Who has called the MPI.
#pragma once

namespace mpiio {

// Is HDF5 among the callers of this call? It changes metadata on one process and reads them back on others after a
// barrier, without the MPI_File_sync that the standard asks for in between. Seen where HDF5 is a
// shared library of that name, as distributions, h5py and netCDF have it; not where it is part of the program's own file.
bool called_by_hdf5();

}  // namespace mpiio
