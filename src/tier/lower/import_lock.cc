#include "tier/lower/import_lock.h"

#include "base/coarse_clock.h"
#include "pool/lanes/lock.h"

namespace cairn::tier {

ImportLock::ImportLock(file::FileSystem& fs, const file::Map& map, uint64_t patience_ns)
    : fs_(fs), map_(map), seat_(fs.pool, pool::SeatGuard::OnlyLocks()) {
  if (!seat_.ok()) return;
  persist::Word& word = map.inode->append_lock;
  pool::Waiter waiter(fs.pool);
  const uint64_t begun = fine_monotonic_ns();
  while (!(is_held_ = pool::try_acquire(fs.pool, *seat_, word)) &&
         fine_monotonic_ns() - begun < patience_ns)
    waiter.wait_for_lock(word.load());
}

ImportLock::~ImportLock() {
  if (is_held_) pool::release(fs_.pool, map_.inode->append_lock);
}

}  // namespace cairn::tier
