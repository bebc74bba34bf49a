#include "file/inode/moving.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "file/inode/open_table.h"
#include "file/inode/pins.h"
#include "pool/core/redo.h"
#include "pool/lanes/lock.h"

namespace cairn::file {

namespace {

// Sets the mark. Of several movers one succeeds.
Status set_mark(FileSystem& fs, LocalSeat& seat, const Map& map) {
  const pool::LockGuard lock(fs.pool, seat, map.inode->lock);
  if (!is_live(*map.inode) || is_moving(*map.inode))
    return fail(EAGAIN, "inode %llu is being moved", static_cast<unsigned long long>(map.number));
  pool::RedoChange change(fs.pool, seat);
  change.set(map.inode->flags, map.inode->flags.load() | format::flag_moving);
  change.set(map.inode->file.mover, seat.lock_word);
  return change.commit();
}

void end_mark(FileSystem& fs, LocalSeat& seat, const Map& map, uint64_t generation,
              std::optional<uint64_t> mover) {
  const pool::LockGuard lock(fs.pool, seat, map.inode->lock);
  if (!is_live(*map.inode) || !is_moving(*map.inode) ||
      map.inode->generation.load() != generation ||
      (mover && map.inode->file.mover.load() != *mover))
    return;
  pool::RedoChange change(fs.pool, seat);
  change.set(map.inode->flags, map.inode->flags.load() & ~format::flag_moving);
  change.set(map.inode->file.mover, 0);
  change.commit()
      .ignore();  // the next operation that matters reports it; waits for the mark are bounded
}

}  // namespace

bool is_still_moving(FileSystem& fs, LocalSeat& seat, const Map& map) {
  if (!is_moving(*map.inode)) [[likely]]
    return false;
  const uint64_t generation = map.inode->generation.load();
  const uint64_t mover = map.inode->file.mover.load();
  if (pool::has_lost_owner(fs.pool, mover)) end_mark(fs, seat, map, generation, mover);
  return is_moving(*map.inode);
}

void mark_new(FileSystem& fs, LocalSeat& seat, Inode& inode) {
  fs.pool.store(inode.flags, inode.flags.load() | format::flag_moving);
  fs.pool.store(inode.file.mover, seat.lock_word);
}

Status begin_moving(FileSystem& fs, const Map& map) {
  const uint64_t generation = map.inode->generation.load();
  {
    const pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    CAIRN_TRY(set_mark(fs, *seat, map));
  }
  // Openers count themselves in this word. An opener either comes before and is seen, or comes
  // after and sees the mark.
  fs.pool.fetch_add(map.inode->opens, 0);
  if (!is_open(fs, map.number) && !is_pinned(fs, map.number)) return Status();
  const pool::SeatGuard seat(fs.pool);
  if (seat.ok()) end_moving(fs, *seat, map, generation);
  return fail(EBUSY, "inode %llu is open", static_cast<unsigned long long>(map.number));
}

void end_moving(FileSystem& fs, LocalSeat& seat, const Map& map, uint64_t generation,
                std::optional<uint64_t> mover) {
  end_mark(fs, seat, map, generation, mover);
}

void await_place(FileSystem& fs, LocalSeat& seat, const Map& map) {
  using std::chrono::steady_clock;
  constexpr auto longest = std::chrono::seconds(5);
  constexpr auto longest_pause = std::chrono::microseconds(1000);
  const uint64_t generation = map.inode->generation.load();
  const uint64_t mover = map.inode->file.mover.load();
  const auto until = steady_clock::now() + longest;
  for (auto pause = std::chrono::microseconds(50); is_still_moving(fs, seat, map);
       pause = std::min(pause * 2, longest_pause)) {
    if (!is_live(*map.inode) || map.inode->links.load() == 0) return;
    if (steady_clock::now() >= until) return end_mark(fs, seat, map, generation, mover);
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace cairn::file
