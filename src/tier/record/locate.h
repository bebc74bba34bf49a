// Finds the path of a lazy inode in lower. Each imported inode knows the directory and the slot of
// its name there. A lazy inode has not moved, so these lead up to the covered directory.
#pragma once

#include <functional>
#include <string>

#include "file/namespace/directory.h"
#include "tier/lower/lower.h"
#include "tier/system/system.h"

namespace cairn::tier {

// The entry of inode `number` in a directory: in the slot at `unit` - 1 or, failing that (0:
// unknown), found by looking through all names. ESTALE if it is not there.
Result<file::Listed> entry_of(file::FileSystem& fs, const file::Map& directory, uint64_t unit,
                              uint64_t number);

// ESTALE if the inode came from no cover that exists.
Result<LowerLocation> locate(file::FileSystem& fs, uint64_t inode);
// Notes in the witnesses of this directory and those above it that Cairn has changed something
// at or below it in lower at `newest`.
Status raise_newest(file::FileSystem& fs, uint64_t directory, uint64_t newest);
// Notes the owner of a directory, which a drain has just set.
Status note_owner(file::FileSystem& fs, uint64_t directory, const sys::FileStat& st);
// Calls visit(inode, newest time of its witness) for a directory and those above it, without the
// top. The visit may change the time; false ends the walk.
using Climb = std::function<bool(uint64_t inode, uint64_t* newest)>;
Status climb(file::FileSystem& fs, uint64_t directory, const Climb& visit);
// The cover whose top this inode is; null if it is none.
Result<const KnownCover*> cover_of_top(file::FileSystem& fs, uint64_t top);
// Notes the device of the covered directory, which was opened by the path of the cover.
Status confirm_device(file::FileSystem& fs, uint64_t top, const std::string& path, uint64_t device);
// The covered directory was moved to `path`; this process looks for it there from now on.
Status move_cover(file::FileSystem& fs, uint64_t top, const std::string& path);

}  // namespace cairn::tier
