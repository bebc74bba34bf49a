// Who calls: the user, for whom permissions are looked at on every path. A system call would cost a tenth of
// a short walk, so the user is remembered until the program first asks to become another; from then on the
// kernel is asked each time.
#pragma once

#include <sys/types.h>

namespace posix::caller {

uid_t effective_user();
uid_t real_user();  // as access(2) asks

// The program is about to change its users.
void changing();

}  // namespace posix::caller
