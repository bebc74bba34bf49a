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

constexpr uid_t kSame = static_cast<uid_t>(-1);  // not this one

// The program is about to change its users: they are asked for each time from now on.
void users_change();
// ... its groups.
void groups_change();

// This process is attached now.
void tell_pool();

}  // namespace posix::caller
