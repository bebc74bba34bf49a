#include "tier/changes/changes.h"

#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "base/coarse_clock.h"
#include "file/inode/attributes.h"
#include "file/namespace/directory_slots.h"
#include "pool/lanes/lock.h"
#include "tier/record/locate.h"
#include "tier/system/listing.h"

namespace cairn::tier {

uint64_t change_time(file::FileSystem& fs, const file::Map& map) {
  if (map.inode->stamps.load() == 0) return map.inode->ctime.load();
  pool::SeatGuard seat(fs.pool);
  return seat.ok() ? file::attributes_of(fs, map).ctime : 0;
}

Result<uint64_t> shape_at_rest(file::FileSystem& fs, const file::Map& map) {
  constexpr uint64_t patience_ns = 1'000'000'000;
  const file::Inode& inode = *map.inode;
  uint64_t shape = inode.shape.load();
  if ((shape & 1) == 0) return shape;
  // A process that changes the shape holds the inode's lock. If it was killed, the process that
  // waits for the lock recovers it.
  const pool::SeatGuard seat(fs.pool, pool::SeatGuard::OnlyLocks());
  if (!seat.ok()) return pool::no_seat(fs.pool);
  pool::Waiter waiter(fs.pool);
  const uint64_t deadline = fine_monotonic_ns() + patience_ns;
  while (fine_monotonic_ns() < deadline) {
    waiter.wait_for_lock(inode.lock.load());
    shape = inode.shape.load();
    if ((shape & 1) == 0) return shape;
  }
  return fail(EBUSY, "it is being truncated; drain again when that has ended");
}

bool is_drained(file::FileSystem& fs, const DrainDirectory& where, const file::Listed& listed,
                const file::Map& map) {
  return listed.has_lower && !where.fresh && change_time(fs, map) == map.inode->drained.load();
}

bool is_at_home(const DrainDirectory& where, const file::Listed& listed, const file::Map& map) {
  const file::Inode& inode = *map.inode;
  return listed.has_lower && inode.lower_parent.load() == where.inode && !has_left_home(inode) &&
         home_unit(inode) == unit_of(listed) + 1;
}

bool is_left_out(file::FileSystem& fs, const DrainDirectory& where, const file::Listed& listed,
                 const file::Map& map) {
  if (drain_mode_in(fs, map, where.mode) != DrainMode::never) return false;
  const bool has_moved = map.inode->lower_parent.load() != 0 && !is_at_home(where, listed, map);
  return !has_moved && !(where.fresh && listed.has_lower);
}

bool is_new_in_lower(const file::Map& map) {
  return (map.inode->lower_unit.load() & format::unit_is_new) != 0;
}

void set_home(file::FileSystem& fs, const DrainDirectory& where, const std::string& text,
              const file::Map& map, bool is_new) {
  auto name = file::make_name(text.data(), text.size());
  pool::SeatGuard seat(fs.pool);
  if (!name.ok() || !seat.ok()) return;
  // A rename that takes the name away after the look also notes that the inode has left its home.
  const pool::LockGuard lock(fs.pool, *seat, where.map.inode->lock);
  auto slot = file::find_name(fs, where.map, *name);
  if (!slot.ok() || slot->inode != map.number) return;  // it was moved meanwhile: not at home
  const uint64_t unit = (slot->unit + 1) | (is_new ? format::unit_is_new : 0);
  // An inode whose home does not change must have one at every moment, also after a crash.
  const bool is_there =
      map.inode->lower_parent.load() == where.inode && home_unit(*map.inode) == slot->unit + 1;
  if (!is_there) {
    fs.pool.store_flush(map.inode->lower_unit, 0);
    fs.pool.store_flush(map.inode->lower_parent, where.inode);
  }
  fs.pool.store_flush(map.inode->lower_unit, unit);
  fs.pool.fence().ignore();  // a later fence, on which something depends, returns the error
}

bool still_names(file::FileSystem& fs, const DrainDirectory& where, const file::Listed& listed,
                 const file::Map& map) {
  auto name = file::make_name(listed.name, listed.length);
  pool::SeatGuard seat(fs.pool);
  if (!name.ok() || !seat.ok()) return false;
  auto slot = file::find_name(fs, where.map, *name);
  return slot.ok() && slot->inode == map.number;
}

bool is_as_listed(file::FileSystem& fs, const DrainDirectory& where, const file::Listed& listed) {
  auto name = file::make_name(listed.name, listed.length);
  pool::SeatGuard seat(fs.pool);
  if (!name.ok() || !seat.ok()) return true;
  const pool::LockGuard lock(fs.pool, *seat, where.map.inode->lock);
  auto slot = file::find_name(fs, where.map, *name, true);
  if (!slot.ok() || slot->inode != listed.inode || slot->has_lower != listed.has_lower)
    return false;
  return !slot->has_lower ||
         are_of_same_file(file::slots::witness_in(*slot->dirent, slot->head), listed.lower);
}

void set_drained(file::FileSystem& fs, const file::Map& map, uint64_t time) {
  fs.pool.store_flush(map.inode->drained, time);
  fs.pool.fence().ignore();
}

void set_drained_as_of(file::FileSystem& fs, const file::Map& map, const CopiedFrom& copied) {
  uint64_t drained = copied.drained;
  if (!fs.pool.compare_exchange(map.inode->drained, drained, copied.change_time)) return;
  fs.pool.flush(&map.inode->drained, sizeof map.inode->drained);
  fs.pool.fence().ignore();
}

bool wait_for_tick(uint64_t time) {
  constexpr int most_waits = 100;
  for (int i = 0; i < most_waits && coarse_now_ns() <= time; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return coarse_now_ns() > time;
}

int64_t clock_set_to() {
  // A process that loses the processor between the two readings computes too small a value.
  constexpr int looks = 4;
  int64_t most = INT64_MIN;
  for (int i = 0; i < looks; ++i) {
    const uint64_t now = fine_now_ns();
    most = std::max(most, static_cast<int64_t>(now - fine_monotonic_ns()));
  }
  return most;
}

bool is_set_back(int64_t since) {
  constexpr int64_t tick = 10'000'000;  // ns: the longest tick of Linux
  return clock_set_to() < since - tick;
}

uint64_t announced_time() {
  constexpr uint64_t seconds = 10;
  return file::now_ns() + seconds * 1'000'000'000;
}

uint64_t announce(file::FileSystem& fs, uint64_t directory) {
  const uint64_t until = announced_time();
  const int failed = raise_newest(fs, directory, until).code();
  // If this fails and the drain is killed, later removals of the directory are more careful than
  // they need be. Nothing else depends on it.
  return failed == ESTALE || failed == ENOENT ? 0 : until;
}

Result<InLower> try_to_look(const KnownCover& known, int directory, const file::Listed& listed,
                            sys::FileStat* st) {
  const int64_t result = sys::lstatat(directory, listed.name, st);
  if (result == -ENOENT || result == -ENOTDIR) return InLower::nothing;
  if (result < 0) return sys::failed(result, "stat", name_of(listed));
  if (!listed.has_lower) return InLower::other;
  return is_remembered(known, listed.lower, *st) ? InLower::remembered : InLower::other;
}

InLower look(const KnownCover& known, int directory, const file::Listed& listed,
             sys::FileStat* st) {
  auto found = try_to_look(known, directory, listed, st);
  return found.ok() ? *found : InLower::other;
}

}  // namespace cairn::tier
