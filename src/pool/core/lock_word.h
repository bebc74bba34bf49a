// Lock words: a lock in the pool is one word that names its owner's seat and generations. These
// functions never wait and never recover a lane, so recovery itself and the search for space use
// them; lock.h waits.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

// Makes a word: valid 1 | lane 10 | seat 3 | lane generation 24 | attach generation 20.
uint64_t make_lock_word(const Pool& pool, uint32_t lane, uint64_t lane_generation, uint32_t seat);
uint32_t lane_of(uint64_t lock_word);
// Returns true if the word names this seat, in whichever attachment.
bool names(uint64_t lock_word, uint32_t lane, uint64_t lane_generation, uint32_t seat);
// Returns true if no process holds the lock: the word is zero, or its owner's generations are over.
bool is_void(const Pool& pool, uint64_t lock_word);

inline bool try_acquire(Pool& pool, LocalSeat& seat, Word& lock) {
  uint64_t held = lock.load_relaxed();
  if (held != 0 && !is_void(pool, held)) return false;
  return pool.compare_exchange(lock, held, seat.lock_word);
}
inline void release(Pool& pool, Word& lock) { pool.store(lock, 0); }

}  // namespace cairn::pool
