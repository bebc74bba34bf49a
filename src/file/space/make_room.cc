#include "file/space/make_room.h"

#include "file/inode/open_table.h"
#include "file/inode/reclaim.h"
#include "file/space/free_zeros.h"
#include "file/space/room_request.h"
#include "pool/lanes/seats.h"
#include "pool/space/space.h"

namespace cairn::file {

namespace {

// The number of tries while each one makes room that others take: these others finish some time.
constexpr int most_tries = 64;
// The number of tries while others have made room, or a medium refuses what the pool has.
constexpr int most_tries_in_vain = 4;

bool trim_all_ahead(FileSystem& fs) {
  bool any = false;
  for_each_open_file(fs, [&](format::OpenFile& open) {
    if (open.ahead.load() == 0) return true;
    pool::SeatGuard seat(fs.pool);
    const uint64_t number = open.inode.load();
    Inode* inode = seat.ok() ? inode_at(fs, number) : nullptr;
    if (inode != nullptr && is_live(*inode) &&
        inode->generation.load() == open.inode_generation.load())
      any = free_ahead(fs, *seat, {inode, number}, open) || any;
    return true;
  });
  return any;
}

enum class MadeRoom : uint8_t { none, is_there, made };

// Returns true if `wanted` bytes would fit now because others have freed blocks.
bool has_room(Pool& pool, uint64_t wanted) {
  const pool::Usage usage = pool::usage(pool);
  return usage.free > usage.reserve + wanted / format::block_size;
}

// Makes room: returns blocks that were filled ahead of any writer and are still zero, or reclaims
// what others inside a call withheld. If that yields nothing, evicts files that lower has, or has
// once a keeper has drained them. The caller is in no seat, and so withholds nothing itself: two
// callers inside their calls would wait for each other.
MadeRoom make_room(FileSystem& fs, uint64_t wanted) {
  if (trim_all_ahead(fs) || reclaim_withheld(fs)) return MadeRoom::made;
  const auto evict = [&fs, wanted](bool has_drained) { return evict_for(fs, wanted, has_drained); };
  if (evict(false) || ask_keeper_for_room(fs, evict)) return MadeRoom::made;
  return has_room(fs.pool, wanted) ? MadeRoom::is_there : MadeRoom::none;
}

}  // namespace

bool evict_for(FileSystem& fs, uint64_t wanted, bool has_drained) {
  if (fs.lower == nullptr) return false;
  const uint64_t before = pool::usage(fs.pool).free;
  // Space that others have evicted meanwhile counts as well.
  return fs.lower->evict_some(wanted, has_drained) &&
         (reclaim_withheld(fs) || pool::usage(fs.pool).free > before);
}

bool try_again(FileSystem& fs, int tries, uint64_t wanted) {
  const MadeRoom room = make_room(fs, wanted);
  if (room == MadeRoom::none) return tries == 1;
  return tries <= (room == MadeRoom::made ? most_tries : most_tries_in_vain);
}

}  // namespace cairn::file
