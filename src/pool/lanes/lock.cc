#include "pool/lanes/lock.h"

#include <ctime>

#include "pool/lanes/recover.h"

namespace cairn::pool {
namespace {

constexpr uint32_t spins = 200;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

bool has_lost_owner(Pool& pool, uint64_t lock_word) {
  if (is_void(pool, lock_word)) return true;
  recover_if_dead(pool, lane_of(lock_word));
  return is_void(pool, lock_word);
}

void acquire(Pool& pool, LocalSeat& seat, Word& lock) {
  if (try_acquire(pool, seat, lock)) [[likely]]
    return;
  Waiter waiter(pool);
  while (!try_acquire(pool, seat, lock)) waiter.wait_for_lock(lock.load());
}

void Waiter::wait_for_lock(uint64_t lock_word) {
  if (lock_word == 0 || is_void(pool_, lock_word)) return;
  wait_for_lane(lane_of(lock_word));
}

void Waiter::wait_for_lane(uint32_t lane) {
  ++rounds_;
  if (rounds_ < spins) {
    pause();
    return;
  }
  // The first look comes early: a dead owner should cost its survivors well under a millisecond.
  if (rounds_ == spins || rounds_ % 32 == 0) recover_if_dead(pool_, lane);
  const timespec pause{0, rounds_ < spins + 20 ? 20'000 : 200'000};
  nanosleep(&pause, nullptr);
}

}  // namespace cairn::pool
