#include "pool/lanes/seats.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "pool/core/lock_word.h"
#include "pool/lanes/free_lane.h"
#include "pool/lanes/lane_patience.h"

namespace cairn::pool {

namespace detail {
constinit thread_local SeatCache seat_cache[cached_seats]
    __attribute__((tls_model("initial-exec"))) = {};
}

namespace {

// Returns the thread's id. Async-signal-safe, unlike glibc's cached pthread_self after a raw clone.
uint32_t this_thread() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

bool thread_is_gone(uint32_t thread) {
  return syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH;
}

LocalSeat* remember(Pool& pool, LocalSeat* seat) {
  // The seat replaces one of a pool that is gone or not in use now; without such a one, the last.
  detail::SeatCache* place = &detail::seat_cache[detail::cached_seats - 1];
  for (detail::SeatCache& cached : detail::seat_cache) {
    if (cached.serial == pool.serial && cached.seat == seat) return seat;
    if (cached.serial == 0) {
      place = &cached;
      break;
    }
  }
  *place = {pool.serial, seat};
  return seat;
}

void set_up_seats(Pool& pool, uint32_t number) {
  const uint32_t ready = pool.seats_ready.load();
  const uint64_t generation = pool.lanes[number].generation.load();
  for (uint32_t i = 0; i < format::seats_per_lane; ++i) {
    LocalSeat& seat = pool.seats.set_up(ready + i);
    seat.words = &pool.lanes[number].seat[i];
    seat.lane = number;
    seat.index = i;
    seat.lock_word = make_lock_word(pool, number, generation, i);
    seat.home = &pool.segment[0]->region;
    seat.pool_epoch = &pool.state->epoch;
    seat.locking.store(false, std::memory_order_relaxed);
    seat.thread.store(0);
  }
  pool.seats_ready.store(ready + format::seats_per_lane, std::memory_order_release);
}

}  // namespace

Status agree_on_entry(Pool& pool, bool first) {
  const bool able = persist::register_for_process_fence();
  Word& mode = pool.state->entry_mode;
  if (first) pool.store(mode, able ? format::entry_light : format::entry_locked);
  pool.light_entry = mode.load() == format::entry_light;
  if (pool.light_entry && !able)
    return fail(EPERM,
                "pool %s: the processes that use it now rely on membarrier(2), which this one may "
                "not use (an old kernel or a seccomp filter); the first process to attach decides",
                pool.path.c_str());
  pool.plain_entry = pool.light_entry && pool.segment[0]->region.stores_plainly();
  return Status();
}

namespace {

// Returns true if the thread is in a call already, perhaps with a lock that others wait for before
// they leave.
bool is_inside(Pool& pool, uint32_t thread) {
  const uint32_t ready = pool.seats_ready.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < ready; ++i)
    if (pool.seats[i].thread.load(std::memory_order_relaxed) == thread) return true;
  return false;
}

}  // namespace

LocalSeat* claim_seat(Pool& pool) {
  const uint32_t thread = this_thread();
  LanePatience patience(pool);
  for (;;) {
    const uint32_t ready = pool.seats_ready.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < ready; ++i) {
      LocalSeat& seat = pool.seats[i];
      if (seat.thread.load(std::memory_order_relaxed) == thread && !seat.is_in_use())
        return remember(pool, &seat);
    }
    for (uint32_t i = 0; i < ready; ++i) {
      LocalSeat& seat = pool.seats[i];
      uint32_t owner = 0;
      if (seat.thread.compare_exchange_strong(owner, thread)) return remember(pool, &seat);
    }
    for (uint32_t i = 0; i < ready; ++i) {
      LocalSeat& seat = pool.seats[i];
      uint32_t owner = seat.thread.load();
      if (owner != thread && thread_is_gone(owner)) {
        // The loads see the end of the thread's last call: leaving is a release.
        static_cast<void>(seat.words->epoch.load());
        static_cast<void>(seat.locking.load(std::memory_order_acquire));
        if (!seat.thread.compare_exchange_strong(owner, thread)) continue;
        // A thread that ended inside a call (cancelled) does not return.
        seat.locking.store(false, std::memory_order_relaxed);
        seat.home->store(seat.words->writing, 0);
        seat.home->store(seat.words->epoch, 0);
        return remember(pool, &seat);
      }
    }
    const Status added = add_lane(pool);
    if (!added.ok() && (is_inside(pool, thread) || !patience.goes_on(added))) return nullptr;
  }
}

Status add_lane(Pool& pool, int descriptor) {
  uint32_t unlocked = 0;
  while (!pool.adding_lane.compare_exchange_strong(unlocked, 1)) {
    unlocked = 0;
    usleep(50);
  }
  Status status;
  if (pool.held.size() >= max_local_lanes) {
    status = no_seat(pool);
  } else {
    HeldLane lane;
    auto number = take_lane(pool, media::Inheritance::own, &lane.lock, descriptor);
    status = number.status();
    if (number.ok()) {
      lane.number = *number;
      pool.held.add(std::move(lane));
      note_lane_taken(pool);
      set_up_seats(pool, *number);
    }
  }
  pool.adding_lane.store(0);
  return status;
}

void use_private_seats(Pool& pool) {
  pool.private_seats = std::make_unique<format::Seat[]>(pool.seats.size());
  for (uint32_t i = 0; i < pool.seats.size(); ++i) {
    LocalSeat& seat = pool.seats.set_up(i);
    seat.words = &pool.private_seats[i];
    seat.home = &pool.segment[0]->region;
    seat.pool_epoch = &pool.state->epoch;
    seat.index = i % format::seats_per_lane;
  }
  pool.seats_ready.store(static_cast<uint32_t>(pool.seats.size()));
  pool.plain_entry = pool.segment[0]->region.stores_plainly();  // no other process looks at them
}

void give_lane_up(Pool& pool, uint32_t number) {
  format::Lane& lane = pool.lanes[number];
  pool.store_flush(lane.generation, lane.generation.load() + 1);
  pool.fetch_and(pool.state->attached[number / 64], ~(1ULL << (number % 64)));
}

void leave_lanes_to_parent(Pool& pool) {
  if (pool.light_entry) persist::register_for_process_fence();
  for (HeldLane& held : pool.held) held.lock.forget();
  pool.held.clear();
  pool.seats_ready.store(0);
  pool.adding_lane.store(0);
  for (detail::SeatCache& cached : detail::seat_cache) cached = {0, nullptr};
  pool.current_chunk.store(UINT64_MAX);
}

void release_lanes(Pool& pool) {
  for (HeldLane& held : pool.held) {
    give_lane_up(pool, held.number);
    held.lock.release();
  }
  pool.held.clear();
  pool.seats_ready.store(0);
}

void move_to_lane(Pool& pool, uint32_t lane, media::LivenessLock lock) {
  leave_lanes_to_parent(pool);
  pool.held.add({lane, std::move(lock)});
  pool.store(pool.lanes[lane].pid, static_cast<uint64_t>(getpid()));
  set_up_seats(pool, lane);
}

}  // namespace cairn::pool
