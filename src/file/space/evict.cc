#include "file/space/evict.h"

#include <sys/stat.h>

#include <ctime>

#include "file/inode/attributes.h"
#include "file/inode/moving.h"
#include "file/inode/pins.h"
#include "file/inode/shape.h"
#include "file/space/cut.h"
#include "pool/core/redo.h"
#include "pool/lanes/lock.h"

namespace cairn::file {
namespace {

// The time for a process that stores through the map right now; a file in use by a stopped process
// stays.
constexpr int patience_ms = 20;
// The number of attempts to take a lock that other processes hold only for a moment.
constexpr int most_lock_asks = 40;

// Tries a lock without waiting for it: its owner may wait for the room that an eviction makes.
class TryLock {
 public:
  TryLock(Pool& pool, LocalSeat& seat, Word& lock, int asks = 1) : pool_(pool), lock_(lock) {
    for (int i = 0; i < asks && !held_; ++i) {
      const timespec moment{0, 50'000};
      if (i != 0) nanosleep(&moment, nullptr);
      held_ = pool::try_acquire(pool, seat, lock);
    }
  }
  ~TryLock() {
    if (held_) pool::release(pool_, lock_);
  }
  TryLock(const TryLock&) = delete;
  TryLock& operator=(const TryLock&) = delete;
  [[nodiscard]] bool held() const { return held_; }

 private:
  Pool& pool_;
  Word& lock_;
  bool held_ = false;
};

Status in_use(const Map& map, const char* how) {
  return fail(EBUSY, "inode %llu: cannot evict: %s", static_cast<unsigned long long>(map.number),
              how);
}
Status locked(const Map& map) {
  return fail(EAGAIN, "inode %llu: cannot evict: another process holds its lock; retry",
              static_cast<unsigned long long>(map.number));
}

// Checks the file under its lock, with no stores announced. `*now` receives its times.
Status check(FileSystem& fs, const Map& map, const Evictable& seen, Attributes* now) {
  CAIRN_TRY(check_generation(map, seen.generation));
  const Inode& inode = *map.inode;
  if (!S_ISREG(inode.mode.load()) || is_lazy(inode))
    return in_use(map, "it is not a file with bytes in the pool");
  if (inode.links.load() != 1) return in_use(map, "it has more than one name");
  if (is_moving(inode)) return in_use(map, "it is being moved to another node");
  *now = attributes_of(fs, map);
  if (now->ctime != seen.change_time || inode.drained.load() != seen.change_time ||
      now->size != seen.size)
    return in_use(map, "it changed after the drain");
  // Stores through a mapping are not announced.
  if (is_pinned(fs, map.number)) return in_use(map, "it is mapped");
  return Status();
}

// Evicts the file. The caller holds the append lock, which excludes staging, and the rename lock.
Status evict_now(FileSystem& fs, const Map& map, const Evictable& seen) {
  const pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  const TryLock lock(fs.pool, *seat, map.inode->lock, most_lock_asks);
  if (!lock.held()) return locked(map);
  CAIRN_TRY(check_generation(map, seen.generation));
  const ShapeChange change(fs, *seat, *map.inode, map.number, patience_ms);
  if (!change.is_alone()) return in_use(map, "a process is writing to it");
  Attributes now;
  CAIRN_TRY(check(fs, map, seen, &now));
  pool::RedoChange record(fs.pool, *seat);
  // The flag is set first: a reader that meets a hole of the cut finds the file lazy.
  record.set(map.inode->flags,
             (map.inode->flags.load() & ~(format::flag_kept | format::flag_mapped)) |
                 format::flag_lazy | format::flag_evicted);
  record.set(map.inode->file.lower_units, seen.lower_units + 1);
  // Times that stand only in stamps would be lost with power, and the file would count as changed.
  record.set(map.inode->mtime, now.mtime);
  record.set(map.inode->ctime, now.ctime);
  // A process that moves a directory and has looked below it looks again. The same record raises
  // the count, because that process may wait for the rename lock now, and this process may be
  // killed.
  record.set(fs.pool.state->evictions, fs.pool.state->evictions.load() + 1);
  return cut_all(fs, *seat, map, record);
}

}  // namespace

Status check_evicts(const Pool& pool) {
  if ((pool.superblock().features_incompatible.load() & format::feature_evictions) != 0)
    return Status();
  return fail(EOPNOTSUPP,
              "pool %s: cannot evict: an earlier version of Cairn created it; create it anew",
              pool.path.c_str());
}

Status evict(FileSystem& fs, const Map& map, const Evictable& seen,
             const std::function<Status()>& check_place) {
  CAIRN_TRY(fs.pool.check_writable());
  CAIRN_TRY(check_evicts(fs.pool));
  const pool::SeatGuard seat(fs.pool, pool::SeatGuard::OnlyLocks());
  if (!seat.ok()) return pool::no_seat(fs.pool);
  const TryLock append(fs.pool, *seat, map.inode->append_lock);
  if (!append.held()) return locked(map);
  const TryLock rename(fs.pool, *seat, fs.pool.state->rename_lock, most_lock_asks);
  if (!rename.held()) return locked(map);
  CAIRN_TRY(check_place());
  return evict_now(fs, map, seen);
}

}  // namespace cairn::file
