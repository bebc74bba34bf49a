// ROMIO: MPICH's I/O, and that of Open MPI if it is chosen. A user may name the type of a file
// system, as a prefix of a file's name or in the environment.
#pragma once

#include <string>

namespace mpiio::romio {

// Returns `filename` without the prefix of a file system ("ufs:"), if ROMIO is in use.
const char* without_file_system(const char* filename);

// Returns why the MPI did not open the file whose handle stands for Cairn's (`shadow_path`), for an
// error's text. `code` is the MPI's.
std::string why_no_shadow(int code);

}  // namespace mpiio::romio
