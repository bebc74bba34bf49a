// Filling holes: takes blocks, fills them while no process can see them, and publishes each in the
// map by one compare-and-swap. The loser of that race copies into the winner's block.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

constexpr uint64_t in_block(uint64_t offset) { return offset & (format::block_size - 1); }

// A piece of a write: bytes for one run of file blocks.
struct WritePiece {
  const uint8_t* source;  // null: zeros
  uint64_t offset;        // in the file
  uint64_t size;
};

// Fills the hole at `cursor`, from piece.offset on, with a run of new blocks. Returns how many
// bytes of the piece that took (0: another process was faster, walk again). The seat has announced
// the inode. `file`, if not null, may be filled ahead (fill_ahead.h). Errors: ENOSPC, and the
// medium's.
Result<uint64_t> fill_hole(FileSystem& fs, LocalSeat& seat, const Map& map, File* file,
                           WritePiece piece, MapCursor cursor);

}  // namespace cairn::file
