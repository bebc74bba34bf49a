#include "pool/lock.h"

#include <ctime>

#include "pool/recover.h"

namespace cairn::pool {
namespace {

constexpr uint64_t generation_mask = (1U << 24) - 1;
constexpr uint64_t attach_mask = (1U << 20) - 1;
constexpr unsigned attach_shift = 38;
constexpr uint32_t spins = 200;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

uint32_t lane_of(uint64_t lock_word) { return (lock_word >> 1) & 0x3ff; }

uint64_t make_lock_word(const Pool& pool, uint32_t lane, uint64_t lane_generation, uint32_t seat) {
  return 1 | static_cast<uint64_t>(lane) << 1 | static_cast<uint64_t>(seat) << 11 |
         (lane_generation & generation_mask) << 14 |
         (pool.attach_generation & attach_mask) << attach_shift;
}

bool names(uint64_t lock_word, uint32_t lane, uint64_t lane_generation, uint32_t seat) {
  return (lock_word & ((1ULL << attach_shift) - 1)) ==
         (1 | static_cast<uint64_t>(lane) << 1 | static_cast<uint64_t>(seat) << 11 |
          (lane_generation & generation_mask) << 14);
}

bool is_void(Pool& pool, uint64_t lock_word) {
  if (lock_word == 0) return true;
  const uint32_t lane = lane_of(lock_word);
  if (lane >= pool.lane_count) return true;
  const uint64_t now = pool.lanes[lane].generation.load();
  return ((lock_word >> 14) & generation_mask) != (now & generation_mask) ||
         ((lock_word >> attach_shift) & attach_mask) != (pool.attach_generation & attach_mask);
}

bool has_lost_owner(Pool& pool, uint64_t lock_word) {
  if (is_void(pool, lock_word)) return true;
  recover_if_dead(pool, lane_of(lock_word));
  return is_void(pool, lock_word);
}

bool try_acquire(Pool& pool, LocalSeat& seat, Word& lock) {
  uint64_t held = lock.load_relaxed();
  if (held != 0 && !is_void(pool, held)) return false;
  return pool.compare_exchange(lock, held, seat.lock_word);
}

void acquire(Pool& pool, LocalSeat& seat, Word& lock) {
  if (try_acquire(pool, seat, lock)) [[likely]]
    return;
  Waiter waiter(pool);
  while (!try_acquire(pool, seat, lock)) waiter.wait_for_lock(lock.load());
}

void release(Pool& pool, Word& lock) { pool.store(lock, 0); }

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
