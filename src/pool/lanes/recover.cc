#include "pool/lanes/recover.h"

#include "pool/core/redo.h"
#include "pool/lanes/attach_lock.h"
#include "pool/space/space_recovery.h"

namespace cairn::pool {

void recover_lane(Pool& pool, uint32_t number) {
  format::Lane& lane = pool.lanes[number];
  // Recovery continues after a failure to write back, which is sticky and meets the next caller.
  for (format::Seat& seat : lane.seat) replay(pool, seat.redo).ignore();
  // Any process may now take what a record named: a free inode, an even shape, a void lock. The
  // following steps need no fence before the generation is raised and the lane's locks are void
  // with it: bytes beyond the end are fenced by the process that zeroes them; the rest is void or
  // counted anew after a power loss, written whole by its next owner, or fenced before this process
  // detaches.
  pool.fence().ignore();
  for (format::Seat& seat : lane.seat) {
    if (pool.client != nullptr) pool.client->recover_seat(seat);
    recover_in_flight(pool, seat, number);
    pool.store(seat.writing, 0);
    pool.store(seat.epoch, 0);
  }
  if (pool.client != nullptr) pool.client->recover_lane(number);
  pool.store_flush(lane.generation, lane.generation.load() + 1);
  pool.fetch_and(pool.state->attached[number / 64], ~(1ULL << (number % 64)));
}

namespace {

void recover_through(Pool& pool, int fd, uint32_t number) {
  const format::Lane& lane = pool.lanes[number];
  if ((lane.generation.load() & 1) == 0) return;
  const auto held = media::is_held(fd, lane_lock_byte(number));
  if (!held.ok() || *held) return;
  auto lock = media::try_lock(fd, lane_lock_byte(number));
  // The dead process may have been changing a segment that others have added; unmapped, the change
  // would stay half done.
  if (lock.ok() && (lane.generation.load() & 1) != 0 && pool.see_growth().ok())
    recover_lane(pool, number);
}

}  // namespace

void recover_if_dead(Pool& pool, uint32_t number) {
  if (pool.read_only || pool.no_liveness || (pool.lanes[number].generation.load() & 1) == 0) return;
  const int fd = open_lock_file(pool);
  if (fd < 0) return;  // liveness is unknown, so no lane is recovered
  recover_through(pool, fd, number);
  close_lock_file(fd);
}

void recover_the_dead(Pool& pool) {
  if (pool.read_only || pool.no_liveness) return;
  const int fd = open_lock_file(pool);
  if (fd < 0) return;
  recover_the_dead(pool, fd);
  close_lock_file(fd);
}

void recover_the_dead(Pool& pool, int descriptor) {
  if (pool.read_only || pool.no_liveness) return;
  pool.for_each_lane([&pool, descriptor](uint32_t lane) {
    recover_through(pool, descriptor, lane);
    return true;
  });
}

}  // namespace cairn::pool
