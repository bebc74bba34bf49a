// dimension_names() reads what the dimensions of a dataset are called for NetcdfReader.
#pragma once

#include <string>

#include "netcdf/hdf5_library.h"

namespace cairn::cli {

// Returns the names of the first `dimensions`, separated by blanks. "" if the dataset has no list
// of them, or a name has a blank. Also "" if the list has another form than HDF5's own: any program
// may have written the file.
std::string dimension_names(const Hdf5& h5, Hid dataset, size_t dimensions);

}  // namespace cairn::cli
