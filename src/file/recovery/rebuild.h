// Rebuild: after a power loss (another boot, not detached cleanly) shared memory that no process
// flushed holds any value. Redo records are replayed; then every live inode's map is walked and the
// block records, free bits, inode states and open files are made from what the maps say.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// The caller has the attach lock and no process is attached. EUCLEAN if the pool is damaged beyond
// that.
Status rebuild(FileSystem& fs);
// The part of it that a pool needs which was detached cleanly before the power was lost. What
// concerns processes is not flushed: lanes and open files. Old words of a lane would be taken for
// the work of its next owner, if that one is killed; and an open file that comes back would keep
// its inode, or be closed once more with it, so that the inode's count of openers is one too low
// for the next opener. Old lock words are void, and the other words that are not flushed are hints,
// or err upwards as that count does.
void forget_processes(FileSystem& fs);

}  // namespace cairn::file
