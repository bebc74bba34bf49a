// Rebuild: after a power loss (another boot, not detached cleanly) shared memory that nobody flushed
// is whatever it is. Redo records are replayed; then every live inode's map is walked and the block
// records, free bits, inode states and open files are made from what the maps say.
#pragma once

#include "file/file_system.h"

namespace cairn::file {

// The caller has the attach lock and nobody is attached. EUCLEAN if the pool is damaged beyond that.
Status rebuild(FileSystem& fs);
// The part of it that a pool needs which was detached cleanly before the power was lost: a lane's words are not flushed, and those of an
// older state would be taken for the work of who takes the lane now, if that one is killed.
void clear_lanes(Pool& pool);

}  // namespace cairn::file
