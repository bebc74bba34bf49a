// Cut: takes the file blocks [from, to) out of a map as one atomic change, whatever the file's
// size. Copies without the range replace the nodes on the two edges. An orphan inode gets the old
// nodes together with the range to be freed (reclaim.h).
#pragma once

#include "file/inode/file_system.h"
#include "pool/core/redo.h"

namespace cairn::file {

struct FileBlocks {
  uint64_t from;
  uint64_t to;
};
// Returns true if a block of the range is mapped.
bool anything_in(const FileSystem& fs, const Map& map, FileBlocks range);
// Cuts the range as a part of `change`, and commits the change. The caller holds the inode's lock
// and has its shape to itself.
Status cut_range(FileSystem& fs, LocalSeat& seat, const Map& map, FileBlocks range,
                 pool::RedoChange& change);
// Empties the whole map, in the way of cut_range().
Status cut_all(FileSystem& fs, LocalSeat& seat, const Map& map, pool::RedoChange& change);

}  // namespace cairn::file
