// Opens a file that its owner cannot read (mode 000), because programs may still change its mode,
// owner or times.
#pragma once

#include <cstdint>

namespace cairn::tier {

// Opens the file of an O_PATH descriptor, and closes that. Gives the owner the right to read the
// file, until its mode is set again. `path_only` may be an error, which it returns. Returns a
// descriptor or -errno.
int64_t open_unreadable(int64_t path_only, int flags);
// Opens the file of any descriptor so, and leaves the descriptor open.
int64_t reopen_unreadable(int fd, int flags);

}  // namespace cairn::tier
