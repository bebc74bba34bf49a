#include "file/space/make_room.h"

#include "file/inode/open_table.h"
#include "file/inode/reclaim.h"
#include "file/space/free_zeros.h"
#include "file/space/room_request.h"
#include "pool/lanes/seats.h"
#include "pool/space/space.h"

namespace cairn::file {

namespace {

// How long a call waits for processes inside calls before it says that the pool is full.
constexpr int full_pool_patience_ms = 1000;
constexpr int most_tries = 4;
// One write may need more evictions than that: each made some room, and others may have taken it.
constexpr int most_tries_evicting = 64;

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

bool reclaim(FileSystem& fs) {
  pool::SeatGuard seat(fs.pool);
  return seat.ok() && reclaim_withheld(fs, *seat, full_pool_patience_ms);
}

enum class Room : uint8_t { none, given_back, evicted };

// Gives back what was filled ahead of anybody's writes and is still zero, or what others inside a
// call withheld, or else what lower has as well, or has once a keeper has drained it; says what
// came back. The caller is in no seat, and so withholds nothing itself: of two that wait inside
// their calls, each waits for the other.
Room make_room(FileSystem& fs, uint64_t wanted) {
  if (trim_all_ahead(fs) || reclaim(fs)) return Room::given_back;
  const auto evict = [&fs, wanted](bool has_drained) { return evict_for(fs, wanted, has_drained); };
  return evict(false) || ask_keeper_for_room(fs, evict) ? Room::evicted : Room::none;
}

}  // namespace

bool evict_for(FileSystem& fs, uint64_t wanted, bool has_drained) {
  if (fs.lower == nullptr) return false;
  const uint64_t before = pool::usage(fs.pool).free;
  // What others have evicted meanwhile counts as well.
  return fs.lower->evict_some(wanted, has_drained) &&
         (reclaim(fs) || pool::usage(fs.pool).free > before);
}

bool try_again(FileSystem& fs, int tries, uint64_t wanted) {
  const Room room = make_room(fs, wanted);
  if (room == Room::evicted) return tries <= most_tries_evicting;
  return tries == 1 || (room == Room::given_back && tries <= most_tries);
}

}  // namespace cairn::file
