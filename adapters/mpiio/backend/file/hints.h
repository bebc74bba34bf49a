// Hints (MPI 4.1, section 14.2.8): the back end keeps the hints that it follows, and returns only
// these.
#pragma once

#include <sys/types.h>

#include "mpiio/backend/file/file.h"

namespace mpiio {

void take_hints(File& file, MPI_Info info);
// Returns the mode of a new file: `file_perm` (octal), or 0666 less the umask.
mode_t file_mode(const File& file);
// Returns true if other ranks see a write when it returns, in a file that several nodes write. The
// hint `cairn_visibility` (`immediate` or `sync`) decides, else CAIRN_MPI_VISIBILITY. Without both,
// it is true for files that HDF5 or PnetCDF has opened.
bool wants_immediate(const File& file);
// Frees the handles that a view keeps.
void free_types(View& view);

}  // namespace mpiio
