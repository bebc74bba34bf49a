// Hints (MPI 4.1, section 14.2.8): those that are followed are kept and read back; others are not.
#pragma once

#include <sys/types.h>

#include "mpiio/backend/file/file.h"

namespace mpiio {

void take_hints(File& file, MPI_Info info);
// What a new file gets: `file_perm` (octal), or what the umask leaves of 0666.
mode_t file_mode(const File& file);
// `cairn_visibility` (`immediate` or `sync`), where several nodes write the file: is a write to be
// seen by others when it returns? Without the hint CAIRN_MPI_VISIBILITY says it, and else it is so
// for files that HDF5 or PnetCDF has opened.
bool wants_immediate(const File& file);
// The handles that a view keeps.
void free_types(View& view);

}  // namespace mpiio
