// Prepares for the program's change of its users, by a call that came by name or by number.
#pragma once

#include <sys/types.h>

#include "posix/credentials/caller.h"

namespace posix::user_change {

// caller::kSame: this one does not change.
void changing(uid_t new_real, uid_t new_effective, uid_t new_saved);
// Prepare for setuid(2), setreuid(2) and setfsuid(2).
void changing_all(uid_t user);
void changing_two(uid_t new_real, uid_t new_effective);
void changing_opener(uid_t user);

}  // namespace posix::user_change
