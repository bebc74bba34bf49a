// Seats: the places where threads announce what they are doing, so that others can wait for them or
// clean up after them.
//
// A full fence must separate the announcement and the look at what it protects. If the system
// allows it, a process that looks at the seats makes all others fence (look_at_seats), and entering
// costs two plain stores; else entering is a locked instruction. The first attach decides for all.
#pragma once

#include <utility>

#include "persist/core/process_fence.h"
#include "pool/core/pool.h"
#include "pool/lanes/no_seat.h"

namespace cairn::pool {

// Returns the calling thread's seat in `pool`, or another free one if a signal handler interrupted
// a call. Takes further lanes if a process has more threads than seats. Null: no lane is free.
LocalSeat* claim_seat(Pool& pool);

namespace detail {
// A thread's last seats. There are several, because calls nest (a write at the shared offset holds
// the offset's lock around a write), and because a program may use several pools.
struct SeatCache {
  uint64_t serial;
  LocalSeat* seat;
};
inline constexpr unsigned cached_seats = 4;
extern constinit thread_local SeatCache seat_cache[cached_seats]
    __attribute__((tls_model("initial-exec")));
}  // namespace detail

// Returns a cached seat that is free, of the pool of this serial; or null.
inline LocalSeat* cached_seat(uint64_t serial) {
  for (const detail::SeatCache& cached : detail::seat_cache) {
    if (cached.serial == serial && !cached.seat->is_in_use()) [[likely]]
      return cached.seat;
  }
  return nullptr;
}

inline LocalSeat* seat_of_thread(Pool& pool) {
  LocalSeat* const seat = cached_seat(pool.serial);
  return seat != nullptr ? seat : claim_seat(pool);
}

// Marks a thread as inside a call: everything that is in the map when the guard has been made stays
// readable until it is destroyed.
//
// A thread's signal handlers find the seat taken as soon as the epoch is announced, so the epoch is
// announced first and withdrawn last.
class SeatGuard {
 public:
  [[gnu::always_inline]] explicit SeatGuard(Pool& pool) : seat_(seat_of_thread(pool)) {
    if (seat_ == nullptr) [[unlikely]]
      return;
    const uint64_t epoch = pool.state->epoch.load_relaxed();
    if (pool.light_entry) [[likely]] {
      seat_->home->store(seat_->words->epoch, epoch);
    } else {
      seat_->home->exchange(seat_->words->epoch, epoch);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  // Announces stores through the map of `inode` as well (see file/inode/shape.h).
  [[gnu::always_inline]] SeatGuard(Pool& pool, uint64_t inode)
      : seat_(seat_of_thread(pool)), writes_(true) {
    if (seat_ == nullptr) [[unlikely]]
      return;
    seat_->home->store(seat_->words->epoch, pool.state->epoch.load_relaxed());
    std::atomic_signal_fence(std::memory_order_seq_cst);
    announce_writing(pool, inode);
  }
  // Continues with the seat that another guard has handed over.
  [[gnu::always_inline]] explicit SeatGuard(LocalSeat* handed_over)
      : seat_(handed_over), writes_(handed_over->words->writing.load_relaxed() != 0) {}
  // Announces nothing, for a lock that is held around other calls. These calls announce themselves,
  // and while they wait for freed blocks, no seat may withhold blocks on their behalf.
  struct OnlyLocks {};
  [[gnu::always_inline]] SeatGuard(Pool& pool, OnlyLocks /*tag*/)
      : seat_(seat_of_thread(pool)), only_locks_(true) {
    if (seat_ == nullptr) [[unlikely]]
      return;
    seat_->locking.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  [[gnu::always_inline]] ~SeatGuard() {
    if (seat_ != nullptr) [[likely]]
      leave();
  }
  SeatGuard(const SeatGuard&) = delete;
  SeatGuard& operator=(const SeatGuard&) = delete;

  // Leaves the seat to a guard in a function called last: a guard whose address is passed to no
  // function lives in registers.
  [[nodiscard]] LocalSeat* hand_over() {
    LocalSeat* seat = seat_;
    seat_ = nullptr;
    return seat;
  }

  [[nodiscard]] bool ok() const { return seat_ != nullptr; }
  LocalSeat& operator*() const { return *seat_; }
  LocalSeat* operator->() const { return seat_; }
  [[nodiscard]] LocalSeat* get() const { return seat_; }

  // Stops announcing stores (before waiting for a structural change), and starts again.
  void pause_writing() { seat_->home->store(seat_->words->writing, 0); }
  void resume_writing(const Pool& pool, uint64_t inode) {
    writes_ = true;
    announce_writing(pool, inode);
  }

 private:
  void announce_writing(const Pool& pool, uint64_t inode) {
    if (pool.light_entry) [[likely]] {
      seat_->home->store(seat_->words->writing, inode);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      seat_->home->exchange(seat_->words->writing, inode);
    }
  }
  [[gnu::always_inline]] void leave() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (only_locks_) {
      seat_->locking.store(false, std::memory_order_release);
      return;
    }
    if (writes_) {
      seat_->home->store(seat_->words->writing, 0);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    seat_->home->store(seat_->words->epoch, 0);
  }

  LocalSeat* seat_;
  bool writes_ = false;      // has announced stores
  bool only_locks_ = false;  // has announced nothing
};

// A SeatGuard of the fast path, if Pool::plain_entry: it checks nothing that is known when a file
// is opened.
class PlainSeat {
 public:
  [[gnu::always_inline]] explicit PlainSeat(LocalSeat* seat) : seat_(seat), words_(seat->words) {
    enter();
  }
  // Announces stores through the map of `inode` as well.
  [[gnu::always_inline]] PlainSeat(LocalSeat* seat, uint64_t inode)
      : seat_(seat), words_(seat->words), writes_(true) {
    enter();
    persist::Region::store_plain(words_->writing, inode);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  [[gnu::always_inline]] ~PlainSeat() {
    if (seat_ == nullptr) return;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (writes_) {
      persist::Region::store_plain(words_->writing, 0);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    persist::Region::store_plain(words_->epoch, 0);
  }
  PlainSeat(const PlainSeat&) = delete;
  PlainSeat& operator=(const PlainSeat&) = delete;

  // Does what SeatGuard's hand_over() does.
  [[nodiscard]] LocalSeat* hand_over() { return std::exchange(seat_, nullptr); }
  LocalSeat& operator*() const { return *seat_; }

 private:
  [[gnu::always_inline]] void enter() {
    persist::Region::store_plain(words_->epoch, seat_->pool_epoch->load_relaxed());
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  LocalSeat* seat_;
  format::Seat* words_;
  bool writes_ = false;
};

// Called before the seats are read, after the change that processes inside must see (a cut, an odd
// shape, an advanced epoch) has been stored with a full fence.
inline void look_at_seats(const Pool& pool) {
  if (pool.light_entry) persist::process_fence();
}

// Decides how seats are entered, under the attach lock: for all (`first`: no process is attached),
// or joins the earlier decision. EPERM: the others rely on membarrier(2), which this process may
// not use.
Status agree_on_entry(Pool& pool, bool first);

// Frees a lane of this process that has nothing left to recover; its lock is released separately.
void give_lane_up(Pool& pool, uint32_t lane);
// Makes a forked child without a lane of its own hold none; it takes one at its next call.
void leave_lanes_to_parent(Pool& pool);
// Puts the seats into this process's own memory, in a pool attached for reading; no process waits
// for them.
void use_private_seats(Pool& pool);
// Adds a lane to those that this process's threads use. `descriptor`: of the lock file, with a
// description of its own, to lock it through; -1: one is opened.
Status add_lane(Pool& pool, int descriptor = -1);
// Releases all lanes; no thread may be inside a call.
void release_lanes(Pool& pool);
// Moves the seats to the lane that the parent prepared, in a forked child.
void move_to_lane(Pool& pool, uint32_t lane, media::LivenessLock lock);

}  // namespace cairn::pool
