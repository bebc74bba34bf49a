// Locks in the pool, with waiting (lock_word.h: the word itself). A waiter that finds the owner
// dead recovers its lane first and then continues. Not recursive. Order: the directory rename lock,
// directories from the root down (unrelated ones by inode number), other inodes by number, orphan
// shards.
#pragma once

#include "pool/core/lock_word.h"

namespace cairn::pool {

// Does what is_void() does, after recovering the owner's lane if its process was killed.
bool has_lost_owner(Pool& pool, uint64_t lock_word);

void acquire(Pool& pool, LocalSeat& seat, Word& lock);

// Waits for another process: the waiting thread calls it in each round. It spins, then sleeps, and
// at times checks whether the lane is still alive (and recovers it if not).
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
