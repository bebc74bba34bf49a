#include "file/inode/attributes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>

#include "file/inode/blocks.h"
#include "file/inode/shape.h"
#include "file/inode/xattr.h"
#include "pool/core/redo.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/no_seat.h"
#include "pool/lanes/seats.h"

namespace cairn::file {
namespace {

using format::Stamp;

// Compares times; those before 1970 are negative numbers.
bool is_earlier(uint64_t a, uint64_t b) {
  return static_cast<int64_t>(a) < static_cast<int64_t>(b);
}

void raise_to(Pool& pool, Word& word, uint64_t value) {
  uint64_t now = word.load();
  while (is_earlier(now, value) && !pool.compare_exchange(word, now, value)) {
  }
  pool.flush(&word, sizeof word);
}

// Calls visit(stamp) for the inode's stamps in all lanes that the mask names.
template <typename Visit>
void for_each_stamp(FileSystem& fs, uint64_t mask, uint64_t number, Visit visit) {
  if (mask == 0) [[likely]]
    return;
  for (uint32_t first = 0; first < fs.pool.lane_count; first += 64) {
    // A lane that is not attached has no stamps: they were folded before the lane was released or
    // recovered.
    for (uint64_t lanes = fs.pool.state->attached[first / 64].load() & mask; lanes != 0;
         lanes &= lanes - 1) {
      for (Stamp& stamp :
           fs.pool.lanes[first + static_cast<uint32_t>(std::countr_zero(lanes))].stamp) {
        if (stamp.inode.load() == number) visit(stamp);
      }
    }
  }
}

Stamp* claim_stamp(FileSystem& fs, uint64_t number) {
  for (const pool::HeldLane& held : fs.pool.held) {
    for (Stamp& stamp : fs.pool.lanes[held.number].stamp) {
      uint64_t free = 0;
      if (stamp.inode.load() != 0 || !fs.pool.compare_exchange(stamp.inode, free, number)) continue;
      return &stamp;
    }
  }
  return nullptr;
}

// Returns the bit of the stamp's lane in masks.
uint64_t lane_bit(const Pool& pool, const Stamp* stamp) {
  const auto offset = static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(stamp) -
                                            reinterpret_cast<const uint8_t*>(pool.lanes));
  return 1ULL << (offset / sizeof(format::Lane) % 64);
}

void mark_stamped(FileSystem& fs, Inode& inode, const Stamp* stamp) {
  const uint64_t bit = lane_bit(fs.pool, stamp);
  if ((inode.stamps.load() & bit) == 0) fs.pool.fetch_or(inode.stamps, bit);
}

// Removes the lane from the mask after a stamp was released, unless another stamp needs it there.
// Processes that ask for attributes then need not look at the lane.
void unmark_stamped(FileSystem& fs, Inode& inode, uint64_t number, const Stamp* stamp) {
  const uint64_t bit = lane_bit(fs.pool, stamp);
  if ((fs.pool.fetch_and(inode.stamps, ~bit) & bit) == 0) return;
  // A process that found the bit still set may have claimed another stamp. Claiming and clearing
  // the bit are locked instructions: either that process saw the bit cleared, or its stamp is seen
  // here.
  bool needed = false;
  for_each_stamp(fs, bit, number, [&needed](const Stamp&) { needed = true; });
  if (needed) fs.pool.fetch_or(inode.stamps, bit);
}

// Clears the time in the inode's stamp. If the stamp has become another inode's meanwhile, that
// inode gets its time back.
void empty_stamp(Pool& pool, Stamp& stamp, uint64_t number) {
  uint64_t time = stamp.mtime.load();
  if (time == 0 || stamp.inode.load() != number || !pool.compare_exchange(stamp.mtime, time, 0) ||
      stamp.inode.load() == number)
    return;
  uint64_t none = 0;
  pool.compare_exchange(stamp.mtime, none, time);
}

void fold(Pool& pool, Inode& inode, uint64_t mtime) {
  if (mtime == 0) return;
  raise_to(pool, inode.mtime, mtime);
  raise_to(pool, inode.ctime, mtime);
  pool.fetch_add(inode.change, 1);
}

uint64_t blocks_in_lower(const Inode& inode, const Attributes& a) {
  const uint64_t noted = S_ISREG(a.mode) ? inode.file.lower_units.load() : 0;
  const uint64_t bytes = noted != 0 ? (noted - 1) * 512 : a.size;
  return (bytes + format::block_size - 1) >> format::block_shift;
}

// Counts a file's blocks. A lazy file has none here, which must not look like a hole. The count is
// repeated if the file was evicted or staged meanwhile.
void count_blocks(const FileSystem& fs, const Map& map, Attributes* a) {
  constexpr int most_tries = 8;  // while others keep truncating it
  for (int tries = 1;; ++tries) {
    const FirstLook look(*map.inode);
    a->flags = map.inode->flags.load();
    const bool lazy = (a->flags & format::flag_lazy) != 0;
    a->blocks = lazy ? blocks_in_lower(*map.inode, *a) : data_blocks(fs.pool, map, a->size);
    if (lazy || look.still_holds() || tries == most_tries) return;
  }
}

uint64_t resolve(uint64_t time, uint64_t now) { return time == time_now ? now : time; }

}  // namespace

Attributes attributes_of(FileSystem& fs, const Map& map) {
  const Inode& inode = *map.inode;
  Attributes a;
  a.number = map.number;
  a.generation = inode.generation.load();
  a.mode = static_cast<uint32_t>(inode.mode.load());
  a.uid = static_cast<uint32_t>(inode.owner.load());
  a.gid = static_cast<uint32_t>(inode.owner.load() >> 32);
  a.links = static_cast<uint32_t>(inode.links.load());
  a.size = inode.size.load();
  // The stamps are read before the inode: a process that releases a stamp has folded it into the
  // inode before.
  uint64_t stamped = 0;
  for_each_stamp(fs, inode.stamps.load(), map.number, [&stamped](const Stamp& stamp) {
    if (const uint64_t time = stamp.mtime.load(); time != 0)
      stamped = stamped == 0 ? time : std::max(stamped, time, is_earlier);
  });
  persist::read_barrier();
  a.atime = inode.atime.load();
  a.mtime = inode.mtime.load();
  a.ctime = inode.ctime.load();
  if (stamped != 0) {
    a.mtime = std::max(a.mtime, stamped, is_earlier);
    a.ctime = std::max(a.ctime, stamped, is_earlier);
  }
  a.btime = inode.btime.load();
  a.rdev = inode.rdev.load();
  a.flags = inode.flags.load();
  // The subdirectories of a lazy directory lie in lower.
  if ((a.flags & format::flag_lazy) != 0 && S_ISDIR(a.mode))
    a.links = std::max(a.links, static_cast<uint32_t>(inode.directory.lower_links.load()));
  if (S_ISREG(a.mode))
    count_blocks(fs, map, &a);
  else if ((a.flags & format::flag_lazy) != 0)
    a.blocks = blocks_in_lower(inode, a);
  else if (!S_ISLNK(a.mode))
    a.blocks = data_blocks(fs.pool, map, a.size);
  return a;
}

Status set_mode(FileSystem& fs, LocalSeat& seat, const Map& map, uint32_t permissions,
                uint64_t generation) {
  pool::LockGuard lock(fs.pool, seat, map.inode->lock);
  CAIRN_TRY(check_generation(map, generation));
  pool::RedoChange change(fs.pool, seat);
  change.set(map.inode->mode, (map.inode->mode.load() & ~07777ULL) | (permissions & 07777));
  change.set(map.inode->ctime, now_ns());
  return change.commit();
}

// Drops the file capabilities: like the kernel, a change of owner does not pass them on.
static Status drop_capabilities(FileSystem& fs, LocalSeat& seat, const Map& map,
                                uint64_t generation) {
  if (S_ISDIR(map.inode->mode.load()) || map.inode->xattr.load() == 0) return Status();
  const Status dropped = remove_xattr(fs, seat, map, "security.capability", generation);
  return dropped.code() == ENODATA ? Status() : dropped;
}

Status set_owner(FileSystem& fs, LocalSeat& seat, const Map& map, uint32_t uid, uint32_t gid,
                 uint64_t generation) {
  CAIRN_TRY(drop_capabilities(fs, seat, map, generation));
  pool::LockGuard lock(fs.pool, seat, map.inode->lock);
  CAIRN_TRY(check_generation(map, generation));
  const uint64_t now = map.inode->owner.load();
  const uint64_t new_uid = uid == UINT32_MAX ? now & 0xffffffff : uid;
  const uint64_t new_gid = gid == UINT32_MAX ? now >> 32 : gid;
  pool::RedoChange change(fs.pool, seat);
  change.set(map.inode->owner, new_uid | new_gid << 32);
  change.set(map.inode->ctime, now_ns());
  return change.commit();
}

Status set_times(FileSystem& fs, LocalSeat& seat, const Map& map, uint64_t atime, uint64_t mtime,
                 uint64_t generation) {
  pool::LockGuard lock(fs.pool, seat, map.inode->lock);
  CAIRN_TRY(check_generation(map, generation));
  if (mtime != time_omit) {
    // Earlier stamps are cleared so that they cannot override the time that is set.
    for_each_stamp(fs, map.inode->stamps.load(), map.number,
                   [&](Stamp& stamp) { empty_stamp(fs.pool, stamp, map.number); });
  }
  // All times are one moment: programs ask whether a file was read after it was changed.
  const uint64_t now = now_ns();
  pool::RedoChange change(fs.pool, seat);
  if (atime != time_omit) change.set(map.inode->atime, resolve(atime, now));
  if (mtime != time_omit) change.set(map.inode->mtime, resolve(mtime, now));
  change.set(map.inode->ctime, now);
  return change.commit();
}

Status set_flags(FileSystem& fs, uint64_t number, uint64_t set, uint64_t clear) {
  CAIRN_TRY_ASSIGN(inode, live_inode(fs, number));
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  pool::LockGuard lock(fs.pool, *seat, inode->lock);
  pool::RedoChange change(fs.pool, *seat);
  change.set(inode->flags, (inode->flags.load() & ~clear) | set);
  return change.commit();
}

// Returns a time later than that of the last drain, also if the clock was set back: a changed file
// must differ from the drained one.
static uint64_t time_of_change(const Inode& inode, uint64_t tick) {
  return std::max(tick, inode.drained.load() + 1);
}

void note_modified(FileSystem& fs, Inode& inode) {
  fold(fs.pool, inode, time_of_change(inode, coarse_now_ns()));
}

void stamp_now(File& file, const uint64_t tick) {
  FileSystem& fs = *file.fs;
  const uint64_t time = time_of_change(*file.inode, tick);
  Stamp* stamp = file.stamp.load();
  if (stamp == nullptr && (stamp = claim_stamp(fs, file.number)) != nullptr) {
    Stamp* none = nullptr;
    if (!file.stamp.compare_exchange_strong(none, stamp)) {
      fs.pool.store(stamp->inode, 0);
      stamp = none;
    }
  }
  if (stamp != nullptr) {
    fs.pool.store(stamp->mtime, time);
    mark_stamped(fs, *file.inode, stamp);
  } else {
    fold(fs.pool, *file.inode, time);  // more files are being written than a lane has slots
  }
  file.last_tick.store(tick, std::memory_order_relaxed);
}

void fold_stamps(FileSystem& fs, const Map& map) {
  uint64_t latest = 0;
  for_each_stamp(fs, map.inode->stamps.load(), map.number,
                 [&latest](const Stamp& stamp) { latest = std::max(latest, stamp.mtime.load()); });
  if (is_earlier(map.inode->mtime.load(), latest)) fold(fs.pool, *map.inode, latest);
}

void fold_stamp(File& file) {
  Pool& pool = file.fs->pool;
  if (Stamp* stamp = file.stamp.exchange(nullptr)) {
    fold(pool, *file.inode, stamp->mtime.load());
    pool.store(stamp->mtime, 0);
    pool.store(stamp->inode, 0);
    unmark_stamped(*file.fs, *file.inode, file.number, stamp);
  }
  file.last_tick.store(0);
  const bool counts = (file.shared->flags.load() & uint64_t{O_NOATIME}) == 0;
  // Like the kernel's relatime, only the first read after a change counts.
  if (file.was_read.exchange(false) && counts && !pool.read_only &&
      !is_earlier(file.inode->mtime.load(), file.inode->atime.load()))
    raise_to(pool, file.inode->atime, coarse_now_ns());
}

void fold_lane_stamps(FileSystem& fs, uint32_t lane) {
  for (Stamp& stamp : fs.pool.lanes[lane].stamp) {
    const uint64_t number = stamp.inode.load();
    if (number == 0) continue;
    if (Inode* inode = inode_at(fs, number)) fold(fs.pool, *inode, stamp.mtime.load());
    fs.pool.store(stamp.mtime, 0);
    fs.pool.store(stamp.inode, 0);
  }
}

}  // namespace cairn::file
