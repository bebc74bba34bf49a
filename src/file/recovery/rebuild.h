// Rebuild: after a power loss (another boot, not detached cleanly) shared memory that nobody
// flushed is whatever it is. Redo records are replayed; then every live inode's map is walked and
// the block records, free bits, inode states and open files are made from what the maps say.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// The caller has the attach lock and nobody is attached. EUCLEAN if the pool is damaged beyond
// that.
Status rebuild(FileSystem& fs);
// The part of it that a pool needs which was detached cleanly before the power was lost. What
// concerns processes is not flushed: lanes and open files. Old words of a lane would be taken for
// the work of who takes it now, if that one is killed; and an open file that comes back would keep
// its inode, or be closed once more with him, so that the inode's count of openers is one too low
// for the next who opens it. Old lock words are void, and the other words that are not flushed are
// hints, or err upwards as that count does.
void forget_processes(FileSystem& fs);

}  // namespace cairn::file
