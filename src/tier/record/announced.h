// Recognises a lazy file whose times in lower a killed drain has set. The pool remembers the old
// times, and the journal announces the new ones.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::tier {

// The caller holds the file's ImportLock. If lower has the file with the times that a killed drain
// has announced, the pool remembers these; ESTALE: it has not.
Status take_announced(file::FileSystem& fs, const file::Map& map);

}  // namespace cairn::tier
