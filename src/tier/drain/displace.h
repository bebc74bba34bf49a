// Displace moves what lower has under a name that was removed in this pool out of the way before
// the pool is drained, because another node of the job has made the name anew and may be drained
// first. It lies with what drains keep (replaced_backup.cc) until the end of a drain of this pool
// that could do everything: what was moved out of it is in lower all the time. Without such a drain
// it is brought back (restore.h).
#pragma once

#include <string>

#include "file/namespace/directory.h"

namespace cairn::tier {

// What the name was in lower, if it was removed here and no drain has told lower yet; else ENOENT.
Result<file::LowerIdentity> removed_name(file::FileSystem& fs, const file::Map& directory,
                                         const std::string& name);
// ENOENT: there is no such name. ESTALE: lower has something else there, or something in it was
// changed; a drain will tell.
Status displace(file::FileSystem& fs, const file::Map& directory, const std::string& name);

}  // namespace cairn::tier
