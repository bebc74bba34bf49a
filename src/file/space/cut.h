// Cut: takes the file blocks [from, to) out of a map as one atomic change, whatever the file's
// size. Nodes on the two edges are replaced by copies without the range, and an orphan inode gets
// the old ones together with the range that is to be freed (reclaim.h).
#pragma once

#include "file/inode/file_system.h"
#include "pool/core/redo.h"

namespace cairn::file {

struct FileBlocks {
  uint64_t from;
  uint64_t to;
};
// Is anything mapped in the range?
bool anything_in(const FileSystem& fs, const Map& map, FileBlocks range);
// Cuts the range as a part of `change`, which is committed. The caller holds the inode's lock and
// has its shape to itself.
Status cut_range(FileSystem& fs, LocalSeat& seat, const Map& map, FileBlocks range,
                 pool::Change& change);
// The whole map becomes empty, as with cut_range().
Status cut_all(FileSystem& fs, LocalSeat& seat, const Map& map, pool::Change& change);

}  // namespace cairn::file
