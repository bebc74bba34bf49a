// Filling ahead: a handle that fills holes in sequence gets some of the blocks behind its write along
// with it, as long as they are known to be zero. Publishing a block takes a locked instruction, which
// waits for the data written before it; for one block at a time that costs a third of a write's speed.
// The next writes then find their blocks mapped, and from some megabytes on a whole chunk as one leaf.
//
// Nobody can tell such blocks from holes but by asking for blocks in use (stat, SEEK_DATA). They are
// bounded: a quarter of what the handle has filled in sequence, a chunk at most, never beyond the end of
// file. What is still zero goes back when the handle is closed, and before anybody is told that the pool
// is full, as far as this process goes; a killed process leaves them as they are, which is zeros.
#pragma once

#include "file/open_file.h"

namespace cairn::file {

// How many blocks behind [offset, end) may be filled as well.
uint64_t blocks_ahead(const File& file, uint64_t offset, uint64_t end);
// Blocks up to `filled` have been published for a write of [offset, end); `zero`: they could come ahead.
void note_filled(File& file, uint64_t offset, uint64_t end, uint64_t filled, bool zero);

// File blocks [from, to) that were filled ahead of what had been written then.
struct Ahead {
  Map map;
  uint64_t from = 0;
  uint64_t to = 0;
};
// What the handle filled last; it forgets it.
Ahead take_ahead(File& file);
// The file's blocks are wanted from now on (fallocate): no handle of this process gives them back.
void keep_ahead(FileSystem& fs, uint64_t number);
// Gives back what all files of this process filled ahead and is still zero; returns whether anything came
// back. The caller is in no seat.
bool trim_all_ahead(FileSystem& fs);

}  // namespace cairn::file
