// Ends outdated covers when a directory is covered: another directory has their path, or their
// directory was changed outside Cairn.
#pragma once

#include <cstdint>
#include <string>

#include "tier/cover/cover_options.h"
#include "tier/cover/covered_directory.h"
#include "tier/record/record.h"

namespace cairn::tier {

// Another directory has the path of a cover. Ends the cover, if nothing is lost by that.
Status leave_other(file::FileSystem& fs, uint64_t covers, const std::string& path, Covered found,
                   const Notice& notice);
// A cover that an ended run or `cairn stage` has left shows its directory as it was then. If the
// directory was changed outside Cairn, this ends the cover, provided that all is drained; if not,
// `notice` says that programs see the older state. Returns whether the cover has ended.
Result<bool> leave_if_behind(file::FileSystem& fs, const CoverRecord& record,
                             const std::string& path, const Notice& notice);
// The directory has no cover by this path, but may hold the claim of another cover of the pool. If
// the directory of that cover is still there, this is a copy, and `*foreign` is its token. If not,
// it was moved here. EEXIST: the pool holds undrained changes of it.
Status look_for_moved(file::FileSystem& fs, const std::string& path, const Notice& notice,
                      std::string* foreign);

}  // namespace cairn::tier
