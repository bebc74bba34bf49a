// A cover is a directory of the pool that stands in for a directory of the system
// (include/cairn/cover.h says it for users).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tier/claim/membership.h"
#include "tier/cover/cover_options.h"

namespace cairn::tier {

// Opens the cover of a directory, which is made if there is none. ESTALE: another directory has the
// path by now, and the pool holds undrained changes of the covered one. If it holds none, the old
// cover is dropped, and `notice` says so. EEXIST: the directory was covered at another path and
// moved here, and the pool holds undrained changes of it.
Result<std::unique_ptr<Cover>> open_cover(file::FileSystem& fs, const std::string& directory,
                                          const OpenOptions& options);
// Joins a cover. ENOENT: there is none.
Result<std::unique_ptr<Cover>> join_cover(file::FileSystem& fs, const std::string& directory,
                                          const WhenAlone& when_alone = {});
// Joins a cover to drain it elsewhere or to discard it. The directory may be gone or replaced; then
// `directory` must be its real path.
Result<std::unique_ptr<Cover>> join_kept(file::FileSystem& fs, const std::string& directory);

// Removes the cover with all it holds, drained or not, and its claim. EBUSY while others are
// members. `only_drained`: EAGAIN if something has changed since it was drained, or parts are left.
// `before` is called when no error is left to find, before anything is removed.
Status discard_cover(Cover& cover, bool only_drained, const std::function<Status()>& before = {});

}  // namespace cairn::tier
