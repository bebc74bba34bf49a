// Freeing zeros: blocks that hold nothing but zeros become holes, which no reader can tell from
// them.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// Of the blocks that the description's writer filled ahead (fill_ahead.h), frees those at the end
// that hold zeros; `map` is its inode. The caller holds no lock and has announced no stores. False:
// none was freed, also because the inode is mapped or no longer a file.
bool free_ahead(FileSystem& fs, LocalSeat& seat, const Map& map, format::OpenFile& open);
// What a preallocation that failed had filled of the file blocks [from, to) becomes holes again,
// but for what others have written there since, and not while the file is mapped, or if more
// preallocations of it than `succeeded` have. The caller holds no lock and has announced no stores.
void free_zeros(FileSystem& fs, const Map& map, uint64_t from, uint64_t to, uint64_t succeeded);

}  // namespace cairn::file
