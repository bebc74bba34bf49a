// A cover is a directory of the pool that stands in for a directory of the system
// (include/cairn/cover.h says it for users).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tier/claim/membership.h"
#include "tier/cover/cover_options.h"

namespace cairn::tier {

// ESTALE: another directory has the path by now, and the pool keeps what was never drained to the
// covered one. Where the pool keeps nothing, the old cover is dropped, which `notice` is told.
// EEXIST: the directory was covered by another path, it was moved here, and the pool keeps what was
// never drained to it.
Result<std::unique_ptr<Cover>> open_cover(file::FileSystem& fs, const std::string& directory,
                                          const OpenOptions& options);
// ENOENT if there is none.
Result<std::unique_ptr<Cover>> join_cover(file::FileSystem& fs, const std::string& directory,
                                          const WhenAlone& when_alone = {});
// As join_cover(), for a process that drains elsewhere or discards: the directory may be gone, or
// be another one. It is given by its real path then.
Result<std::unique_ptr<Cover>> join_kept(file::FileSystem& fs, const std::string& directory);

// Removes the cover with all it holds, drained or not, and its claim. EBUSY while others are
// members. `only_drained`: EAGAIN if something has changed since it was drained, or parts are left.
// `before` is called once nothing speaks against it, and before anything is removed.
Status discard_cover(Cover& cover, bool only_drained, const std::function<Status()>& before = {});

}  // namespace cairn::tier
