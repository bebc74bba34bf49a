// Who has called the MPI.
#pragma once

namespace mpiio {

// Is this the file of a library that reads on one process what another has written after a barrier
// or a collective call, without the MPI_File_sync that the standard asks for in between? HDF5 does
// so with its metadata, PnetCDF with all data: its users call ncmpi_get_var_all after
// ncmpi_put_vara_all. By its name, as distributions, h5py and netCDF have it; not where it is part
// of the program's own file.
bool is_without_sync(const char* library);
// Is one of them among the callers of this call?
bool called_without_sync();

}  // namespace mpiio
