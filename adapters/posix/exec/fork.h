// fork and _Fork, and the preparation of a fork.
#pragma once

namespace posix {

// Opens the companions of descriptions that the child will share: their locks are shared, so their
// descriptors must exist before the fork.
void share_locks();

}  // namespace posix
