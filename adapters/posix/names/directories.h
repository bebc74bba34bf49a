// Directory streams.
#pragma once

#include <dirent.h>

namespace posix {

// A stream on a covered directory that is open as fd.
bool is_ours(DIR* stream);

}  // namespace posix
