#include "posix/credentials/user_change.h"

#include <unistd.h>

#include "posix/core/calls.h"
#include "posix/credentials/calls.h"
#include "posix/credentials/pool_owner.h"

namespace posix {
namespace user_change {

using caller::kSame;

void changing(uid_t new_real, uid_t new_effective, uid_t new_saved) {
  pool_owner::before_change(new_real, new_effective, new_saved);
  caller::users_change();
}

void changing_all(uid_t user) {
  const bool all = geteuid() == 0;
  changing(all ? user : kSame, user, all ? user : kSame);
}

void changing_two(uid_t new_real, uid_t new_effective) {
  const bool saves = new_real != kSame || (new_effective != kSame && new_effective != getuid());
  const uid_t saved = new_effective != kSame ? new_effective : geteuid();
  changing(new_real, new_effective, saves ? saved : kSame);
}

void changing_opener(uid_t user) {
  if (user != kSame) changing(kSame, user, kSame);
}

}  // namespace user_change

namespace serve {

int setuid(uid_t user) {
  user_change::changing_all(user);
  return real::setuid(user);
}

int seteuid(uid_t user) {
  user_change::changing(caller::kSame, user, caller::kSame);
  return real::seteuid(user);
}

int setreuid(uid_t user, uid_t effective) {
  user_change::changing_two(user, effective);
  return real::setreuid(user, effective);
}

int setresuid(uid_t user, uid_t effective, uid_t saved) {
  user_change::changing(user, effective, saved);
  return real::setresuid(user, effective, saved);
}

int setfsuid(uid_t user) {
  user_change::changing_opener(user);
  return real::setfsuid(user);
}

// Groups decide nothing about the pool's own files, which are private to its user.
#define OF_GROUPS(name, parameters, arguments) \
  int name parameters {                        \
    caller::groups_change();                   \
    return real::name arguments;               \
  }
OF_GROUPS(setgid, (gid_t group), (group))
OF_GROUPS(setegid, (gid_t group), (group))
OF_GROUPS(setregid, (gid_t group, gid_t effective), (group, effective))
OF_GROUPS(setresgid, (gid_t group, gid_t effective, gid_t saved), (group, effective, saved))
OF_GROUPS(setfsgid, (gid_t group), (group))

}  // namespace serve
}  // namespace posix
