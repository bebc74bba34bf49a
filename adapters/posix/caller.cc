#include "posix/caller.h"

#include <stdint.h>

#include <atomic>

#include "posix/calls.h"
#include "posix/engine.h"
#include "posix/pool_owner.h"

namespace posix {
namespace caller {

constexpr int64_t kUnknown = -1, kChanges = -2;
static std::atomic<int64_t> effective{kUnknown}, real{kUnknown};
static std::atomic<bool> changes{false};

static uid_t remembered(std::atomic<int64_t>& user, uid_t (*ask)()) {
  int64_t known = user.load(std::memory_order_relaxed);
  if (known >= 0) return static_cast<uid_t>(known);
  uid_t now = ask();
  // Fails for ever once a thread has said that it changes: `now` may be old already.
  int64_t unknown = kUnknown;
  user.compare_exchange_strong(unknown, int64_t{now});
  return now;
}

uid_t opening_user() { return static_cast<uid_t>(posix::real::setfsuid(kSame)); }
gid_t opening_group() { return static_cast<gid_t>(posix::real::setfsgid(kSame)); }

uid_t effective_user() { return remembered(effective, opening_user); }
uid_t real_user() { return remembered(real, getuid); }

void tell_pool() {
  if (changes && pool != nullptr) cairn_pool_set_user(pool, UINT32_MAX, UINT32_MAX);
}

void changing_group() {
  changes = true;
  tell_pool();
}

void changing(uid_t new_real, uid_t new_effective, uid_t new_saved) {
  pool_owner::before_change(new_real, new_effective, new_saved);
  effective = kChanges;
  real = kChanges;
  changing_group();
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

}  // namespace caller

namespace serve {

int setuid(uid_t user) {
  caller::changing_all(user);
  return real::setuid(user);
}

int seteuid(uid_t user) {
  caller::changing(caller::kSame, user, caller::kSame);
  return real::seteuid(user);
}

int setreuid(uid_t user, uid_t effective) {
  caller::changing_two(user, effective);
  return real::setreuid(user, effective);
}

int setresuid(uid_t user, uid_t effective, uid_t saved) {
  caller::changing(user, effective, saved);
  return real::setresuid(user, effective, saved);
}

int setfsuid(uid_t user) {
  caller::changing_opener(user);
  return real::setfsuid(user);
}

// Groups decide nothing about the pool's own files: these are their user's.
#define OF_GROUPS(name, parameters, arguments) \
  int name parameters {                        \
    caller::changing_group();                  \
    return real::name arguments;               \
  }
OF_GROUPS(setgid, (gid_t group), (group))
OF_GROUPS(setegid, (gid_t group), (group))
OF_GROUPS(setregid, (gid_t group, gid_t effective), (group, effective))
OF_GROUPS(setresgid, (gid_t group, gid_t effective, gid_t saved), (group, effective, saved))
OF_GROUPS(setfsgid, (gid_t group), (group))

}  // namespace serve
}  // namespace posix
