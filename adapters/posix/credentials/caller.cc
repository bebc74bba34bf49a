#include "posix/credentials/caller.h"

#include <stdint.h>

#include <atomic>

#include "posix/core/calls.h"
#include "posix/core/engine.h"

namespace posix::caller {

constexpr int64_t kUnknown = -1, kChanges = -2;
static std::atomic<int64_t> effective{kUnknown}, real{kUnknown};
static std::atomic<bool> changes{false};

static uid_t remembered(std::atomic<int64_t>& user, uid_t (*ask)()) {
  int64_t known = user.load(std::memory_order_relaxed);
  if (known >= 0) return static_cast<uid_t>(known);
  uid_t now = ask();
  // Fails once a thread has called users_change(), because `now` may be old already.
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

void groups_change() {
  changes = true;
  tell_pool();
}

void users_change() {
  effective = kChanges;
  real = kChanges;
  groups_change();
}

}  // namespace posix::caller
