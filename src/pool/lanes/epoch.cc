#include "pool/lanes/epoch.h"

#include <ctime>

#include "pool/lanes/lock.h"
#include "pool/lanes/recover.h"
#include "pool/lanes/seats.h"

namespace cairn::pool {
namespace {

bool is_attached(const format::Lane& lane) { return (lane.generation.load() & 1) != 0; }

int64_t now_ms() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1'000'000;
}

}  // namespace

bool has_passed(Pool& pool, uint64_t epoch, const LocalSeat* self) {
  uint64_t now = current_epoch(pool);
  if (now == epoch) pool.compare_exchange(pool.state->epoch, now, epoch + 1);
  look_at_seats(pool);
  return pool.for_each_lane([&](uint32_t l) {
    for (const format::Seat& seat : pool.lanes[l].seat) {
      const uint64_t announced = seat.epoch.load();
      if (announced != 0 && announced <= epoch && (self == nullptr || self->words != &seat))
        return false;
    }
    return true;
  });
}

namespace {

// Calls goes_on() while it waits, and gives up when that returns false.
template <typename GoesOn>
bool wait_for_writers_while(Pool& pool, LocalSeat& self, uint64_t inode, GoesOn goes_on) {
  look_at_seats(pool);
  return pool.for_each_lane([&](uint32_t l) {
    const format::Lane& lane = pool.lanes[l];
    for (const format::Seat& seat : lane.seat) {
      if (self.words == &seat) continue;
      Waiter waiter(pool);
      while (is_attached(lane) && seat.epoch.load() != 0 && seat.writing.load() == inode) {
        if (!goes_on()) return false;
        waiter.wait_for_lane(l);
      }
    }
    return true;
  });
}

}  // namespace

void wait_for_writers(Pool& pool, LocalSeat& self, uint64_t inode) {
  wait_for_writers_while(pool, self, inode, [] { return true; });
}

bool wait_for_writers(Pool& pool, LocalSeat& self, uint64_t inode, int patience_ms) {
  const int64_t deadline = now_ms() + patience_ms;
  return wait_for_writers_while(pool, self, inode, [&] { return now_ms() < deadline; });
}

bool wait_until_passed(Pool& pool, uint64_t epoch, const LocalSeat* self, int patience_ms) {
  const int64_t deadline = now_ms() + patience_ms;
  while (!has_passed(pool, epoch, self)) {
    if (now_ms() >= deadline) return false;
    recover_the_dead(pool);
    const timespec pause{0, 50'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace cairn::pool
