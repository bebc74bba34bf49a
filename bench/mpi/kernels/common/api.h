// Api names the calls that a kernel reads and writes with.
#pragma once

#include <map>
#include <string>

namespace kernels {

enum class Api { posix, mpiio, hdf5 };

// "POSIX", "MPIIO", "HDF5".
const char* api_name(Api api);
// Whether this build has parallel HDF5.
bool have_hdf5();

// Hints for MPI-IO.
using Hints = std::map<std::string, std::string>;

}  // namespace kernels
