// Seats: where a thread announces what it is doing, so that others can wait for it or clean up after
// it.
//
// Between the announcement and the look at what it protects there must be a full fence. Where the
// system allows it, those who look at the seats make everybody fence (look_at_seats), and entering
// costs two plain stores; else entering is a locked instruction. The first attach decides for all.
#pragma once

#include "persist/process_fence.h"
#include "pool/pool.h"

namespace cairn::pool {

// The calling thread's seat in `pool`, or another free one if a signal handler interrupted a call.
// Takes further lanes when a process has more threads than seats. Null: no lane is free.
LocalSeat* claim_seat(Pool& pool);

namespace detail {
// A thread's last seats: more than one, because calls nest (a write at the shared offset holds the
// offset's lock around a write), and because a program may use several pools.
struct SeatCache {
  uint64_t serial;
  LocalSeat* seat;
};
inline constexpr unsigned cached_seats = 4;
extern constinit thread_local SeatCache seat_cache[cached_seats]
    __attribute__((tls_model("initial-exec")));
}  // namespace detail

inline LocalSeat* seat_of_thread(Pool& pool) {
  for (const detail::SeatCache& cached : detail::seat_cache) {
    if (cached.serial == pool.serial && cached.seat->busy.load(std::memory_order_relaxed) == 0)
        [[likely]]
      return cached.seat;
  }
  return claim_seat(pool);
}

// Inside a call: what is in the map when the guard has been made stays readable until it goes.
class SeatGuard {
 public:
  [[gnu::always_inline]] explicit SeatGuard(Pool& pool) : pool_(pool), seat_(seat_of_thread(pool)) {
    if (seat_ == nullptr) [[unlikely]]
      return;
    seat_->busy.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    announce(seat_->words->epoch, pool.state->epoch.load_relaxed());
  }
  // Announces stores through the map of `inode` as well (see file/shape.h).
  [[gnu::always_inline]] SeatGuard(Pool& pool, uint64_t inode)
      : pool_(pool), seat_(seat_of_thread(pool)) {
    if (seat_ == nullptr) [[unlikely]]
      return;
    seat_->busy.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    pool.segment[0]->region.store(seat_->words->writing, inode);
    announce(seat_->words->epoch, pool.state->epoch.load_relaxed());
  }
  // Announces nothing: for a lock that is held around other calls. They announce themselves, and while they wait
  // for freed blocks, nobody may withhold these on their behalf.
  struct OnlyLocks {};
  [[gnu::always_inline]] SeatGuard(Pool& pool, OnlyLocks /*tag*/)
      : pool_(pool), seat_(seat_of_thread(pool)) {
    if (seat_ == nullptr) [[unlikely]]
      return;
    seat_->busy.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~SeatGuard() {
    if (seat_ != nullptr) [[likely]]
      leave();
  }
  SeatGuard(const SeatGuard&) = delete;
  SeatGuard& operator=(const SeatGuard&) = delete;

  [[nodiscard]] bool ok() const { return seat_ != nullptr; }
  LocalSeat& operator*() const { return *seat_; }
  LocalSeat* operator->() const { return seat_; }
  [[nodiscard]] LocalSeat* get() const { return seat_; }

  // Stops announcing stores (before waiting for a structural change), and starts again.
  void pause_writing() { pool_.segment[0]->region.store(seat_->words->writing, 0); }
  void resume_writing(uint64_t inode) { announce(seat_->words->writing, inode); }

 private:
  void announce(Word& word, uint64_t value) {
    Region& region = pool_.segment[0]->region;
    if (pool_.light_entry) [[likely]] {
      region.store(word, value);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      region.exchange(word, value);
    }
  }
  void leave() {
    Region& region = pool_.segment[0]->region;
    if (seat_->words->writing.load_relaxed() != 0) region.store(seat_->words->writing, 0);
    region.store(seat_->words->epoch, 0);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    seat_->busy.store(0, std::memory_order_release);
  }

  Pool& pool_;
  LocalSeat* seat_;
};

// Before the seats are looked at, after what must be seen by those inside (a cut, an odd shape, a moved
// epoch) has been stored with a full fence.
inline void look_at_seats(const Pool& pool) {
  if (pool.light_entry) persist::process_fence();
}

// Decides how seats are entered, under the attach lock: for all (`first`: nobody is attached), or joins
// what was decided. EPERM: the others rely on membarrier(2), which this process may not use.
Status agree_on_entry(Pool& pool, bool first);

// The failure when no seat is to be had: EBUSY, with its text.
Status no_seat(const Pool& pool);

// Takes a free lane with its liveness lock and makes its seats available. `inheritable`: the lock's
// mapping survives fork (for a child that is about to be born).
Result<uint32_t> take_lane(Pool& pool, media::Inheritance inheritance, media::LivenessLock* lock,
                           int descriptor = -1);
// The same with the lock kept by a descriptor that survives exec.
Result<uint32_t> take_lane_for_exec(Pool& pool, int* descriptor);
// A lane of this process that has nothing left to recover becomes free; its lock goes separately.
void give_lane_up(Pool& pool, uint32_t lane);
// In a forked child without a lane of its own: it holds none, and takes one at its next call.
void leave_lanes_to_parent(Pool& pool);
// For a pool that is only looked at: seats in this process's own memory, which nobody waits for.
void use_private_seats(Pool& pool);
// Adds a lane to those that this process's threads use. `descriptor`: of the lock file, with a
// description that nobody else has, to lock it through; -1: one is opened.
Status add_lane(Pool& pool, int descriptor = -1);
// Gives all lanes back; nobody may be inside a call.
void release_lanes(Pool& pool);
// In a forked child: the seats move to the lane that the parent prepared.
void move_to_lane(Pool& pool, uint32_t lane, media::LivenessLock lock);

}  // namespace cairn::pool
