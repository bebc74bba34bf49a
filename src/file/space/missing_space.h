// Missing space: records how many bytes did not fit into a full pool, for later reports.
#pragma once

#include <cstdint>

#include "file/inode/file_system.h"

namespace cairn::file {

void note_missing(FileSystem& fs, uint64_t missing_bytes);
// Records that one call wanted so many bytes and there was no room for all of them.
void note_no_room(FileSystem& fs, uint64_t wanted_bytes);

}  // namespace cairn::file
