// Who calls: the user, for whom permissions are looked at on every path. A system call would cost a
// tenth of a short walk, so the user is remembered until the program first asks to become another;
// from then on the kernel is asked each time. So is the owner of what is made then: a thread may
// change its users alone.
#pragma once

#include <sys/types.h>

namespace posix::caller {

// The user as which the thread opens files (setfsuid): for most the effective user.
uid_t effective_user();
uid_t real_user();  // as access(2) asks
// The opening user and group, which the kernel is asked for each time.
uid_t opening_user();
gid_t opening_group();

// The program is about to change its users; kSame: not this one.
constexpr uid_t kSame = static_cast<uid_t>(-1);
void changing(uid_t new_real, uid_t new_effective, uid_t new_saved);
// ... as setuid(2), setreuid(2) and setfsuid(2) do.
void changing_all(uid_t user);
void changing_two(uid_t new_real, uid_t new_effective);
void changing_opener(uid_t user);
// ... its groups.
void changing_group();

// This process is attached now.
void tell_pool();

}  // namespace posix::caller
