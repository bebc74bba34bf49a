// Sync: fsync(2). On cache-line and byte media every write has persisted before it returned, so only
// stores through mappings are left to flush; on page media the page cache is written back, data before
// the entries that name them.
#pragma once

#include "file/open_file.h"

namespace cairn::file {

Status sync_file(FileSystem& fs, const Map& map);

}  // namespace cairn::file
