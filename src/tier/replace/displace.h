// Displaces a file of lower whose name was removed in this pool, before the pool is drained:
// another node of the job has made the name anew, and its pool may be drained first. The file lies
// in the kept directory (replaced_backup.cc) until the end of a drain of this pool that could do
// everything, so that bytes moved from it are in lower at all times. Without such a drain it is
// restored (restore.h).
#pragma once

#include <string>

#include "file/namespace/directory.h"

namespace cairn::tier {

// The witness of the name in lower, if it was removed in the pool and no drain has removed it in
// lower yet. ENOENT: it was not.
Result<file::Witness> removed_name(file::FileSystem& fs, const file::Map& directory,
                                   const std::string& name);
// ENOENT: there is no such name. ESTALE: lower has another file there, or something in it was
// changed; a drain will report it.
Status displace(file::FileSystem& fs, const file::Map& directory, const std::string& name);

}  // namespace cairn::tier
