// Freeing zeros: blocks that hold only zeros become holes; readers see no difference.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// Frees the zero blocks at the end of those that the description's writer filled ahead
// (fill_ahead.h); `map` is its inode. The caller holds no lock and has announced no stores. Returns
// false if none was freed, also because the inode is mapped or no longer a file.
bool free_ahead(FileSystem& fs, LocalSeat& seat, const Map& map, format::OpenFile& open);
// Frees the blocks that a failed preallocation filled in the file blocks [from, to), except those
// that others have written since. Does nothing while the file is mapped, or if more preallocations
// of it than `succeeded` have succeeded. The caller holds no lock and has announced no stores.
void free_zeros(FileSystem& fs, const Map& map, uint64_t from, uint64_t to, uint64_t succeeded);

}  // namespace cairn::file
