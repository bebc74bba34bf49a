// Directory streams.
#pragma once

#include <dirent.h>

namespace posix {

// Returns true if the stream is on a covered directory.
bool is_ours(DIR* stream);

}  // namespace posix
