// lower_base() is the one way to a covered directory. Everything in lower is opened from the
// descriptor that it returns, component by component and through no symbolic link (system.h), or
// from a descriptor that was opened in that way. No other function uses a path of lower
// (tests/structure/paths_test.py).
#pragma once

#include <fcntl.h>

#include <string>

#include "tier/system/system.h"

namespace cairn::tier {

struct LowerLocation;

// Opens a covered directory by its real path. `flags`: O_PATH or O_RDONLY. -ELOOP or -ENOTDIR: a
// symbolic link, or something that is not a directory, is in the path.
int64_t lower_base(const std::string& covered, int flags = O_PATH);
// Opens what a lazy inode has in lower. `base`, if given, gets the descriptor of the covered
// directory, which is closed otherwise.
int64_t open_lower(const LowerLocation& place, int flags, sys::Descriptor* base = nullptr);

}  // namespace cairn::tier
