#include "posix/caller.h"

#include <stdint.h>

#include <atomic>

#include "posix/calls.h"
#include "posix/pool.h"

namespace posix {
namespace caller {

constexpr int64_t kUnknown = -1, kChanges = -2;
static std::atomic<int64_t> effective{kUnknown}, real{kUnknown};

static uid_t remembered(std::atomic<int64_t>& user, uid_t (*ask)()) {
  int64_t known = user.load(std::memory_order_relaxed);
  if (known >= 0) return static_cast<uid_t>(known);
  uid_t now = ask();
  // Fails for ever once a thread has said that it changes: `now` may be old already.
  int64_t unknown = kUnknown;
  user.compare_exchange_strong(unknown, int64_t{now});
  return now;
}

uid_t effective_user() { return remembered(effective, geteuid); }
uid_t real_user() { return remembered(real, getuid); }

void changing() {
  effective = kChanges;
  real = kChanges;
}

}  // namespace caller

// What the program makes from now on is the new user's, if `result` says that it has become one.
static int become(int result) {
  if (result == 0 && pool != nullptr) cairn_pool_set_user(pool, geteuid(), getegid());
  return result;
}

namespace serve {

int setuid(uid_t user) {
  caller::changing();
  return become(real::setuid(user));
}

int seteuid(uid_t user) {
  caller::changing();
  return become(real::seteuid(user));
}

int setreuid(uid_t user, uid_t effective) {
  caller::changing();
  return become(real::setreuid(user, effective));
}

int setresuid(uid_t user, uid_t effective, uid_t saved) {
  caller::changing();
  return become(real::setresuid(user, effective, saved));
}

int setgid(gid_t group) { return become(real::setgid(group)); }
int setegid(gid_t group) { return become(real::setegid(group)); }
int setregid(gid_t group, gid_t effective) { return become(real::setregid(group, effective)); }
int setresgid(gid_t group, gid_t effective, gid_t saved) {
  return become(real::setresgid(group, effective, saved));
}

}  // namespace serve
}  // namespace posix
