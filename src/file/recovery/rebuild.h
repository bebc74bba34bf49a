// Rebuild: repairs a pool after a power loss (another boot, not detached cleanly), when shared
// memory that no process flushed holds any value. It replays the redo records, walks every live
// inode's map, and makes the block records, free bits, inode states and open files from the maps.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// Rebuilds the pool. The caller has the attach lock and no process is attached. EUCLEAN if the
// damage cannot be repaired.
Status rebuild(FileSystem& fs);
// Clears lanes and open files, which are not flushed, in a pool that was detached cleanly before
// the power was lost. Old words of a lane would be taken for the work of its next owner, if that
// one is killed. An open file that comes back would keep its inode, or be closed once more with it,
// so that the inode's count of openers is one too low for the next opener. Old lock words are void.
// The other words that are not flushed are hints, or err upwards as that count does.
void forget_processes(FileSystem& fs);

}  // namespace cairn::file
