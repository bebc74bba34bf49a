// Run cache: where a thread's last access to a file found its blocks. A walk of the map is a chain of
// dependent loads that the locked instruction before it keeps from overlapping with the access before;
// a sequential reader or writer of small pieces would pay it for every piece.
//
// Sound because an entry that is published changes its address only under a structural change, which
// moves the inode's shape: whoever finds, inside his seat, the shape that he remembered has found the
// map as it was, and what is cut after that look is not reused before he leaves (readers), or waits for
// him (writers, who have announced the inode).
#pragma once

#include <algorithm>

#include "file/open_file.h"

namespace cairn::file {

// How far a walk looks ahead: eight cache lines of entries. A leaf tells more at once.
inline constexpr uint64_t remembered_blocks = 64;

// How many blocks from `file_block` on are known, the first of them in `*block`; 0: walk.
inline uint64_t recall(const LocalSeat& seat, const File& file, uint64_t file_block,
                       BlockRef* block) {
  const auto& run = seat.run;
  const uint64_t at = file_block - run.file_block;
  if (run.handle != file.serial || at >= run.count || file.inode->shape.load() != run.shape)
    return 0;
  *block = run.first.plus(at);
  return run.count - at;
}

// Remembers what a walk found; the caller is inside the seat, and looked at the shape before the walk.
// Returns how many blocks from there on are contiguous.
inline uint64_t remember(LocalSeat& seat, const File& file, uint64_t shape, uint64_t file_block,
                         const Spot& spot) {
  uint64_t ahead = remembered_blocks - file_block % remembered_blocks;
  if (spot.level == 1) ahead = format::chunk_blocks;
  const uint64_t known = contiguous(file.fs->pool, file.map(), file_block, spot, ahead);
  // While the structure changes nothing holds for longer than this call.
  if ((shape & 1) == 0) seat.run = {file.serial, shape, file_block, known, spot.block};
  return known;
}

}  // namespace cairn::file
