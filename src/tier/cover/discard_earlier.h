// Discards what an earlier run left in the pool for a directory, when a run begins its cover anew.
#pragma once

#include <string>

#include "tier/cover/cover_options.h"

namespace cairn::tier {

// Removes the cover of `path`, if there is one, and leaves its claim. Does nothing if the cover is
// in use, or was left by a run of the same launch: a rank may have ended before the next one
// begins. The caller holds the lock on covers.
Status discard_earlier(file::FileSystem& fs, uint64_t covers, const std::string& path,
                       const OpenOptions& options);

}  // namespace cairn::tier
