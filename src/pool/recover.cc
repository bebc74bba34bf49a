#include "pool/recover.h"

#include <fcntl.h>
#include <unistd.h>

#include "pool/redo.h"
#include "pool/space.h"

namespace cairn::pool {

void recover_lane(Pool& pool, uint32_t number) {
  format::Lane& lane = pool.lanes[number];
  for (format::Seat& seat : lane.seat) replay(pool, seat.redo);
  for (format::Seat& seat : lane.seat) {
    if (pool.client != nullptr) pool.client->recover_seat(seat);
    recover_in_flight(pool, seat, number);
    pool.store(seat.writing, 0);
    pool.store(seat.epoch, 0);
  }
  if (pool.client != nullptr) pool.client->recover_lane(number);
  pool.fence().ignore();  // recovery cannot do more; the error is sticky and meets the next caller
  pool.store_flush(lane.generation, lane.generation.load() + 1);
  pool.fetch_and(pool.state->attached[number / 64], ~(1ULL << (number % 64)));
}

void recover_if_dead(Pool& pool, uint32_t number) {
  if (pool.read_only || pool.no_liveness) return;
  format::Lane& lane = pool.lanes[number];
  if ((lane.generation.load() & 1) == 0) return;
  const int fd = open(pool.lock_path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return;  // nothing can be said, so nothing is done
  const auto held = media::is_held(fd, lane_lock_byte(number));
  if (held.ok() && !*held) {
    auto lock = media::try_lock(fd, lane_lock_byte(number));
    if (lock.ok() && (lane.generation.load() & 1) != 0) recover_lane(pool, number);
  }
  close(fd);
}

}  // namespace cairn::pool
