// What did not fit into a full pool, for those who ask afterwards how much was missing.
#pragma once

#include <cstdint>

#include "file/inode/file_system.h"

namespace cairn::file {

void note_missing(FileSystem& fs, uint64_t missing_bytes);
// So many bytes were to be taken in one call, and there was no room for all of them.
void note_no_room(FileSystem& fs, uint64_t wanted_bytes);

}  // namespace cairn::file
