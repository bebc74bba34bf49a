// ROMIO: MPICH's I/O, and that of Open MPI where it is chosen. A user may tell it the type of a
// file system, in front of a file's name or in the environment.
#pragma once

#include <string>

namespace mpiio::romio {

// `filename` without the name of a file system in front of it ("ufs:"), if ROMIO is in force.
const char* without_file_system(const char* filename);

// Why the MPI did not open the file whose handle stands for Cairn's (`shadow_path`), for the text
// of an error. `code` is the MPI's.
std::string why_no_shadow(int code);

}  // namespace mpiio::romio
