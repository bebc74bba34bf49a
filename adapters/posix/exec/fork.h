// fork and _Fork, and what is done before one.
#pragma once

namespace posix {

// Locks of an open file description are shared with the child, so their descriptor must exist
// before the fork.
void share_locks();

}  // namespace posix
