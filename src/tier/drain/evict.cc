#include "tier/drain/evict.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/coarse_clock.h"
#include "file/inode/attributes.h"
#include "file/inode/blocks.h"
#include "file/inode/moving.h"
#include "file/inode/reclaim.h"
#include "file/space/evict.h"
#include "pool/lanes/lock.h"
#include "pool/space/space.h"
#include "tier/record/locate.h"
#include "tier/replace/drain_state.h"
#include "tier/stage/at_home.h"
#include "tier/stage/stage.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

using format::block_shift;

Status not_drained(uint64_t number) {
  return fail(EBUSY, "inode %llu: cannot evict: it is not drained",
              static_cast<unsigned long long>(number));
}

// Reads what lower has of a file that may be evicted.
Status look_for_eviction(file::FileSystem& fs, const file::Map& map, file::Evictable* seen) {
  seen->generation = map.inode->generation.load();
  seen->change_time = change_time(fs, map);
  seen->size = map.inode->size.load();
  if (map.inode->drained.load() != seen->change_time) return not_drained(map.number);
  const auto name = name_at_home(fs, map);
  if (!name) return not_drained(map.number);
  if (!is_directory_at_home(fs, map.inode->lower_parent.load())) return not_drained(map.number);
  CAIRN_TRY_ASSIGN(place, locate(fs, map.number));
  // Opens the file, as every later read does: a file that this user cannot read must stay.
  sys::FileStat st = {};
  CAIRN_TRY_ASSIGN(file, open_file(place, &st));
  const Comparison compared = compare(*place.cover, name->lower, st);
  // The owner of a file can write to it and set its times back, which shows as other rights.
  const bool may_hide_changes = !is_trusted_owner(st.st_uid, no_owner);
  if (!compared.is_same() || (may_hide_changes && compared.difference != Difference::none) ||
      static_cast<uint64_t>(st.st_size) != seen->size)
    return fail(ESTALE, "%s: changed or replaced after the drain: %s", place.path.c_str(),
                compared.reason);
  seen->lower_units = static_cast<uint64_t>(st.st_blocks);
  return Status();
}

}  // namespace

Status evict(file::FileSystem& fs, uint64_t number, uint64_t* blocks) {
  *blocks = 0;
  CAIRN_TRY(fs.pool.check_writable());
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, number));
  const file::Map map{inode, number};
  if (!S_ISREG(inode->mode.load()))
    return fail(EINVAL, "inode %llu: not a regular file", static_cast<unsigned long long>(number));
  if (file::is_lazy(*inode)) return Status();
  file::Evictable seen;
  CAIRN_TRY(look_for_eviction(fs, map, &seen));
  uint64_t held = 0;
  {
    const pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    held = file::held_blocks(fs.pool, map, map.inode->size.load());
  }
  CAIRN_TRY(file::evict(fs, map, seen, [&] {
    return is_directory_at_home(fs, map.inode->lower_parent.load()) ? Status()
                                                                    : not_drained(number);
  }));
  *blocks = held;
  pool::SeatGuard seat(fs.pool);
  if (seat.ok()) file::reclaim_some(fs, *seat);
  return Status();
}

namespace {

// So many inodes are looked at; then the oldest of them are tried.
constexpr uint64_t most_at_once = 1 << 16;
// Evicts up to so much more than it was asked for, because each search costs the same.
constexpr uint64_t most_more = 64 << 20;
constexpr uint64_t least = 2 << 20;
// A call that has freed something ends after this time.
constexpr uint64_t longest_ns = 1'000'000'000;
// A search that found nothing is not repeated for so many times as long as it took.
constexpr uint64_t rest_factor = 8;
// How long a process waits for the evictions of another one.
constexpr uint64_t patience_ns = 1'000'000'000;

struct Candidate {
  uint64_t number;
  int64_t last_use;
  bool is_open;
};

std::optional<Candidate> candidate(const file::Inode& inode, uint64_t number) {
  constexpr uint64_t refused = format::flag_lazy | format::flag_moving;
  if (!file::is_live(inode) || !S_ISREG(inode.mode.load()) || (inode.flags.load() & refused) != 0 ||
      inode.links.load() != 1 || inode.lower_parent.load() == 0 || inode.size.load() == 0 ||
      (inode.stamps.load() == 0 && inode.ctime.load() != inode.drained.load()))
    return std::nullopt;
  return Candidate{number, static_cast<int64_t>(std::max(inode.atime.load(), inode.mtime.load())),
                   inode.opens.load() != 0};
}

}  // namespace

// Looks at the next inodes from `*at` on. Returns those that may be evicted: the oldest first, and
// open ones last.
static std::vector<Candidate> candidates(file::FileSystem& fs, uint64_t numbers, uint64_t* at) {
  std::vector<Candidate> found;
  for (uint64_t i = 0; i < std::min(numbers, most_at_once); ++i) {
    const uint64_t number = *at;
    *at = number + 1 < numbers ? number + 1 : 0;
    const file::Inode* inode = file::inode_at(fs, number);
    if (inode == nullptr) continue;
    if (const auto one = candidate(*inode, number)) found.push_back(*one);
  }
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return a.is_open != b.is_open ? b.is_open : a.last_use < b.last_use;
  });
  return found;
}

uint64_t Evictor::evict_oldest(uint64_t blocks) {
  const uint64_t begun = fine_monotonic_ns();
  const uint64_t numbers = fs_.pool.state->itable_blocks.load() * format::inodes_per_block;
  uint64_t at = std::min(next_to_evict_.load(), numbers - 1);
  uint64_t freed = 0;
  for (uint64_t looked = 0; looked < numbers && freed < blocks; looked += most_at_once) {
    for (const Candidate& one : candidates(fs_, numbers, &at)) {
      uint64_t held = 0;
      if (evict(fs_, one.number, &held).ok()) freed += held;
      if (freed >= blocks || (freed != 0 && fine_monotonic_ns() - begun > longest_ns)) break;
    }
    if (freed != 0 && fine_monotonic_ns() - begun > longest_ns) break;
  }
  next_to_evict_.store(at);
  const uint64_t now = fine_monotonic_ns();
  if (freed == 0) rest_until_.store(now + rest_factor * (now - begun));
  return freed;
}

bool Evictor::evict_some(uint64_t bytes, bool has_drained) {
  if (fs_.pool.read_only || !file::check_evicts(fs_.pool).ok()) return false;
  if (!has_drained && fine_monotonic_ns() < rest_until_.load()) return false;
  const pool::SeatGuard seat(fs_.pool, pool::SeatGuard::OnlyLocks());
  if (!seat.ok()) return false;
  persist::Word& lock = fs_.pool.state->evict_lock;
  pool::Waiter waiter(fs_.pool);
  const uint64_t deadline = fine_monotonic_ns() + patience_ns;
  bool waited = false;
  while (!pool::try_acquire(fs_.pool, *seat, lock)) {
    if (fine_monotonic_ns() > deadline) return false;
    waiter.wait_for_lock(lock.load());
    waited = true;
  }
  // If another process has evicted files meanwhile, that may be enough for both.
  uint64_t freed = 0;
  if (!waited) {
    const uint64_t usable = pool::usage(fs_.pool).usable << block_shift;
    const uint64_t more = std::clamp(usable / 32, least, most_more);
    freed = evict_oldest(std::max(bytes, more) >> block_shift);
  }
  pool::release(fs_.pool, lock);
  return waited || freed != 0;
}

}  // namespace cairn::tier
