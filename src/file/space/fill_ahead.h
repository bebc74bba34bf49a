// Filling ahead: a handle that fills holes in sequence gets some of the blocks behind its write
// along with it, as long as they are known to be zero. Publishing a block takes a locked
// instruction, which waits for the data written before it; for one block at a time that costs a
// third of a write's speed. The next writes then find their blocks mapped, and from some megabytes
// on a whole chunk as one leaf.
//
// A program can tell such blocks from holes only by asking for blocks in use (stat, SEEK_DATA).
// They are bounded: a quarter of what the handle has filled in sequence, a chunk at most, never
// beyond the end of file. The open file description notes them in the pool, so that any process can
// give them back: what is still zero goes when the description is closed, and before a call is told
// that the pool is full. A killed process leaves them as they are, which is zeros.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// How many blocks behind [offset, end) may be filled as well.
uint64_t blocks_ahead(const File& file, uint64_t offset, uint64_t end);
// Blocks up to `filled` are about to be published for a write of [offset, end); `zero`: those
// behind its end hold zeros, so more may come ahead of the next.
void note_filling(File& file, uint64_t offset, uint64_t end, uint64_t filled, bool zero);

}  // namespace cairn::file
