// The program is about to change its users, by a call that came by name or by number.
#pragma once

#include <sys/types.h>

#include "posix/credentials/caller.h"

namespace posix::user_change {

// caller::kSame: not this one.
void changing(uid_t new_real, uid_t new_effective, uid_t new_saved);
// ... as setuid(2), setreuid(2) and setfsuid(2) do.
void changing_all(uid_t user);
void changing_two(uid_t new_real, uid_t new_effective);
void changing_opener(uid_t user);

}  // namespace posix::user_change
