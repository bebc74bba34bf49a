// The calling user, for whom every path is checked for permissions. A system call for the user
// would cost a tenth of a short walk. So the user is remembered until the program first asks to
// become another one. From then on the kernel is asked each time, also for the owner of new files:
// a thread may change its users alone.
#pragma once

#include <sys/types.h>

namespace posix::caller {

// Returns the user as which the thread opens files (setfsuid); in most programs the effective user.
uid_t effective_user();
uid_t real_user();  // for access(2)
// Ask the kernel each time for the user and the group as which the thread opens files.
uid_t opening_user();
gid_t opening_group();

constexpr uid_t kSame = static_cast<uid_t>(-1);  // this one does not change

// Call it before the program changes its users: from now on the kernel is asked each time.
void users_change();
// Call it before the program changes its groups.
void groups_change();

// Tells the pool, once this process has attached, whether users or groups change.
void tell_pool();

}  // namespace posix::caller
