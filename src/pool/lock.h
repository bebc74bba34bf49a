// Locks in the pool: one word that names its owner's seat and generations. A waiter that finds the
// owner dead recovers its lane first and then goes on. Not recursive. Order: the directory rename
// lock, directories from the root down (unrelated ones by inode number), other inodes by number,
// orphan shards.
#pragma once

#include "pool/pool.h"

namespace cairn::pool {

// valid 1 | lane 10 | seat 3 | lane generation 24 | attach generation 20
uint64_t make_lock_word(const Pool& pool, uint32_t lane, uint64_t lane_generation, uint32_t seat);
uint32_t lane_of(uint64_t lock_word);
// Does the word name this seat, in whichever attachment?
bool names(uint64_t lock_word, uint32_t lane, uint64_t lane_generation, uint32_t seat);
// Nobody holds it: zero, or its owner's generations are over.
bool is_void(Pool& pool, uint64_t lock_word);
// The same once who was killed has been recovered.
bool has_lost_owner(Pool& pool, uint64_t lock_word);

void acquire(Pool& pool, LocalSeat& seat, Word& lock);
bool try_acquire(Pool& pool, LocalSeat& seat, Word& lock);
void release(Pool& pool, Word& lock);

// Whoever waits for somebody calls this each time around: it spins, then sleeps, and now and then
// looks whether the lane is still alive (and recovers it if not).
class Waiter {
 public:
  explicit Waiter(Pool& pool) : pool_(pool) {}
  void wait_for_lock(uint64_t lock_word);
  void wait_for_lane(uint32_t lane);

 private:
  Pool& pool_;
  uint32_t rounds_ = 0;
};

class LockGuard {
 public:
  LockGuard(Pool& pool, LocalSeat& seat, Word& lock) : pool_(pool), lock_(lock) {
    acquire(pool, seat, lock);
  }
  ~LockGuard() { release(pool_, lock_); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Pool& pool_;
  Word& lock_;
};

}  // namespace cairn::pool
