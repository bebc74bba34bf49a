// Ends covers that are found to be over when a directory is covered: another directory has their
// path, or their directory was changed outside Cairn.
#pragma once

#include <cstdint>
#include <string>

#include "tier/cover/cover_options.h"
#include "tier/cover/covered_directory.h"
#include "tier/record/record.h"

namespace cairn::tier {

// Another directory has the path of a cover. The cover ends, if nothing is lost by that.
Status leave_other(file::FileSystem& fs, uint64_t covers, const std::string& path, Covered found,
                   const Notice& notice);
// A cover of a run that has ended, or of files that were staged, shows what its directory had then.
// If that has been changed outside Cairn, the cover goes, as it holds nothing that the directory
// has not; if it holds more, the process that reads it is told. Returns whether it is gone.
Result<bool> leave_if_behind(file::FileSystem& fs, const CoverRecord& record,
                             const std::string& path, const Notice& notice);
// A directory that has no cover by this path, and a claim of another cover of the pool. If the
// directory of that one is still there, this is a copy, and `*foreign` is its token. If not, it was
// moved here: what is kept of it is not left behind in silence.
Status look_for_moved(file::FileSystem& fs, const std::string& path, const Notice& notice,
                      std::string* foreign);

}  // namespace cairn::tier
