// Filling ahead: a handle that fills holes in sequence also gets some of the blocks behind its
// write, as long as they are known to be zero. Publishing a block takes a locked instruction, which
// waits for the data written before it. Done for one block at a time, that costs a third of a
// write's speed. With filling ahead the next writes find their blocks mapped, and after some
// megabytes a whole chunk as one leaf.
//
// A program can tell such blocks from holes only by asking for blocks in use (stat, SEEK_DATA).
// Their number is bounded: a quarter of what the handle has filled in sequence, a chunk at most,
// never beyond the end of file. The open file description records them in the pool, so that any
// process can return them. Blocks that are still zero are returned when the description is closed,
// and before a call fails with ENOSPC. The blocks of a killed process stay as they are: zeros.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// Returns the number of blocks behind [offset, end) that may be filled as well.
uint64_t blocks_ahead(const File& file, uint64_t offset, uint64_t end);
// Notes that blocks up to `filled` are about to be published for a write of [offset, end). `zero`:
// those behind the write's end hold zeros, so the next write may fill more ahead.
void note_filling(File& file, uint64_t offset, uint64_t end, uint64_t filled, bool zero);

}  // namespace cairn::file
