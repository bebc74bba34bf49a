#include "pool/seats.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "pool/lane_patience.h"
#include "pool/lock.h"
#include "pool/recover.h"

namespace cairn::pool {

namespace detail {
constinit thread_local SeatCache seat_cache[cached_seats]
    __attribute__((tls_model("initial-exec"))) = {};
}

namespace {

// Async-signal-safe, unlike glibc's cached pthread_self after a raw clone.
uint32_t this_thread() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

bool thread_is_gone(uint32_t thread) {
  return syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH;
}

LocalSeat* remember(Pool& pool, LocalSeat* seat) {
  // In place of a pool's that is gone or not in use now; the last one gives way if there is none.
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

// The process's name, for people who look at the pool.
void note_command(Pool& pool, format::Lane& lane) {
  char name[sizeof lane.command] = {};
  static_assert(sizeof name >= 16, "what the kernel writes");
  prctl(PR_GET_NAME, name);
  for (size_t i = 0; i < std::size(lane.command); ++i) {
    uint64_t word;
    std::memcpy(&word, name + i * sizeof word, sizeof word);
    pool.store(lane.command[i], word);
  }
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
    return fail(
        EPERM,
        "pool %s: the processes that use it now rely on membarrier(2), which this one may not "
        "use (an old kernel or a seccomp filter); whoever attaches first decides",
        pool.path.c_str());
  pool.plain_entry = pool.light_entry && pool.segment[0]->region.stores_plainly();
  return Status();
}

Status no_seat(const Pool& pool) {
  return fail(
      EBUSY,
      "pool %s: no free lane; %u processes (or groups of %u threads) at once are the most, a "
      "pool that is made with --lanes can have %u",
      pool.path.c_str(), pool.lane_count, format::seats_per_lane, format::max_lanes);
}

namespace {

// In a call already, and perhaps with a lock that others wait for before they go.
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
        // Its last call is over: leaving is a release.
        static_cast<void>(seat.words->epoch.load());
        static_cast<void>(seat.locking.load(std::memory_order_acquire));
        if (!seat.thread.compare_exchange_strong(owner, thread)) continue;
        // A thread that ended inside a call (cancelled) is not coming back.
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

namespace {

// Who is about to execute another program has a lane already, and what waits for it may be what the others wait for: some
// lanes are for nobody else. Where there are few, they are for all.
uint32_t lanes_for_exec(const Pool& pool) { return pool.lane_count < 16 ? 0 : pool.lane_count / 8; }

bool leaves_enough(const Pool& pool, uint32_t least) {
  uint32_t taken = 0;
  pool.for_each_lane([&taken](uint32_t) {
    ++taken;
    return true;
  });
  return taken + least < pool.lane_count;
}

// Looks for a free lane; lock(number) takes its byte (EAGAIN: somebody has it). Dead lanes are
// recovered only if no other is free.
template <typename Lock>
Result<uint32_t> take_free_lane(Pool& pool, bool for_exec, Lock lock) {
  const uint32_t least = for_exec ? 0 : lanes_for_exec(pool);
  if (!leaves_enough(pool, least)) recover_the_dead(pool);
  if (!leaves_enough(pool, least)) return no_seat(pool);
  for (int pass = 0; pass < 2; ++pass) {
    for (uint32_t l = 0; l < pool.lane_count; ++l) {
      format::Lane& lane = pool.lanes[l];
      const bool listed = (pool.state->attached[l / 64].load() >> (l % 64) & 1) != 0;
      if (listed && pass == 0) continue;
      if (listed) recover_if_dead(pool, l);
      if ((lane.generation.load() & 1) != 0) continue;
      if (Status status = lock(l); !status.ok()) {
        if (status.code() == EAGAIN) continue;
        return status;
      }
      const uint64_t generation = lane.generation.load();
      if ((generation & 1) != 0) continue;  // somebody was faster and has died since
      pool.store(lane.pid, static_cast<uint64_t>(getpid()));
      note_command(pool, lane);
      pool.store(lane.exec_note, for_exec ? 1 : 0);
      pool.fetch_or(pool.state->attached[l / 64], 1ULL << (l % 64));
      pool.store(lane.generation, generation + 1);
      return l;
    }
  }
  return no_seat(pool);
}

}  // namespace

Result<uint32_t> take_lane(Pool& pool, media::Inheritance inheritance, media::LivenessLock* lock,
                           int descriptor) {
  return take_free_lane(pool, false, [&](uint32_t lane) -> Status {
    auto taken = descriptor >= 0
                     ? media::try_lock_here(descriptor, lane_lock_byte(lane), inheritance)
                     : media::try_lock(pool.lock_path.c_str(), lane_lock_byte(lane), inheritance);
    if (taken.ok()) *lock = std::move(*taken);
    return taken.status();
  });
}

Result<uint32_t> take_lane_for_exec(Pool& pool, int* descriptor) {
  const int fd = open(pool.lock_path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return fail(errno, "%s: %s", pool.lock_path.c_str(), strerror(errno));
  auto lane = take_free_lane(pool, true, [&](uint32_t number) -> Status {
    auto taken = media::try_lock_descriptor(fd, lane_lock_byte(number));
    if (taken.ok()) *descriptor = *taken;
    return taken.status();
  });
  close(fd);
  return lane;
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
  pool.plain_entry = pool.segment[0]->region.stores_plainly();  // nobody else looks at them
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
