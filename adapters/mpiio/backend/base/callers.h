// Callers: finds the libraries that have called the MPI.
#pragma once

namespace mpiio {

// Returns true for the file of a library that omits MPI_File_sync: it reads on one process what
// another has written after a barrier or a collective call, although the standard asks for the sync
// in between. HDF5 does so with its metadata, PnetCDF with all data: its users call
// ncmpi_get_var_all after ncmpi_put_vara_all. The library is recognised by its name, as
// distributions, h5py and netCDF have it, but not if it is linked into the program.
bool is_without_sync(const char* library);
// Returns true if one of them is among the callers of this call.
bool called_without_sync();

}  // namespace mpiio
