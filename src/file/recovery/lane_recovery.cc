#include "file/recovery/lane_recovery.h"

#include <algorithm>

#include "file/inode/attributes.h"
#include "file/inode/open_table.h"
#include "file/inode/reclaim.h"
#include "file/namespace/moved.h"
#include "file/space/beyond_end.h"
#include "pool/core/lock_word.h"
#include "pool/space/space_recovery.h"

namespace cairn::file {
namespace {

// The map that an inode number in a block record or slot stands for.
bool map_of(FileSystem& fs, uint64_t number, Map* map) {
  if (number == format::itable_number)
    *map = fs.itable();
  else if (number == format::otable_number)
    *map = fs.otable();
  else if (number == format::ptable_number)
    *map = fs.ptable();
  else
    *map = {inode_at(fs, number), number};
  return map->inode != nullptr;
}

// The block of the node of `level` that covers the file block. Both may come from a damaged medium.
BlockRef node_of(const Pool& pool, const Map& map, uint64_t file_block, unsigned level) {
  const unsigned top = level_of(file_block == 0 ? span_of(level) - 1 : file_block);
  // A node whose first file block is 0 is the root of its level.
  unsigned at = file_block == 0 ? level : top;
  if (at < level) return {};
  Word* word = &map.inode->root[at - 1];
  for (;;) {
    const Entry entry{word->load()};
    if (!entry || entry.kind() != Kind::node || !pool.valid(entry.block()) ||
        !entry.belongs_to(map.number, base_of(file_block, at), at))
      return {};
    if (at == level) return entry.block();
    --at;
    word = node_at(pool, entry.block()) +
           ((file_block >> (format::node_shift * at)) & (format::node_entries - 1));
  }
}

// Is it this seat of a dead lane that makes the inode, or ends it? Others may have taken the number
// since, or before the seat came to that: its note stands from before to after.
bool is_by(const Pool& pool, const format::Seat& seat, const Inode& inode) {
  const auto into = static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(&seat) -
                                          reinterpret_cast<const uint8_t*>(pool.lanes));
  const auto number = static_cast<uint32_t>(into / sizeof(format::Lane));
  const format::Lane& lane = pool.lanes[number];
  return pool::names(inode.state.load() >> format::state_bits, number, lane.generation.load(),
                     static_cast<uint32_t>(&seat - lane.seat));
}

}  // namespace

bool LaneRecovery::is_published(uint64_t number, uint64_t file_block, unsigned level,
                                BlockRef block) {
  const Pool& pool = fs_.pool;
  Map map;
  if (!map_of(fs_, number, &map)) return false;
  if (level == format::level_xattr) {
    const Entry entry{map.inode->xattr.load()};
    return entry && entry.block() == block;
  }
  if (level > format::root_levels) return false;
  if (level != 0) return node_of(pool, map, file_block, level) == block;
  MapCursor cursor;
  return walk(pool, map, file_block, &cursor).ok() && cursor.block == block;
}

namespace {

// A value that is no change time, and another one than before: a drain that copies the file at this
// moment sees that it must not count it as drained (tier::set_drained_as_of).
uint64_t void_time(uint64_t drained) {
  constexpr uint64_t voids = 1U << 20;  // nanoseconds after the epoch
  return drained < voids ? drained + 1 : 1;
}

}  // namespace

void LaneRecovery::recover_seat(format::Seat& seat) {
  Pool& pool = fs_.pool;
  // It died inside a call: an inode may have lost its last name, and not been ended yet. To look
  // for those means to look at every inode, so a process that dies between calls (as most programs
  // do: they exit) is spared it.
  if (seat.epoch.load() != 0) {
    pool.store(pool.state->sweep, 1);
    // It died while it wrote, perhaps: bytes may have changed before the stamp did. The next drain
    // copies the file. Its time stays, for it may as well have been staged.
    const uint64_t number = seat.writing.load();
    Inode* inode = number != 0 ? inode_at(fs_, number) : nullptr;
    if (inode != nullptr && is_live(*inode) && (inode->flags.load() & format::flag_lazy) == 0) {
      pool.store_flush(inode->drained, void_time(inode->drained.load()));
      forget_move(pool, *inode);
    }
  }
  // Bytes beyond the end of file that an extending write left.
  if (const uint64_t number = seat.extending_inode.load(); number != 0) {
    Map map;
    if (map_of(fs_, number, &map) && is_live(*map.inode)) {
      const uint64_t from = std::max(seat.extending_from.load(), map.inode->size.load());
      const uint64_t to = std::min(seat.extending_to.load(), max_file_size);
      zero_mapped(fs_, map, from, to).ignore();  // a damaged map shows at the next access
    }
    pool.store(seat.extending_inode, 0);
  }
  for (Word& shaped : seat.shaped) {
    const uint64_t number = shaped.load();
    if (number == 0) continue;
    if (Inode* inode = inode_at(fs_, number); inode != nullptr) {
      if ((inode->shape.load() & 1) != 0) pool.store(inode->shape, inode->shape.load() + 1);
      // Also if it was even again: the seat's owner may have died before it flushed that.
      pool.flush(&inode->shape, sizeof(Word));
    }
    pool.store(shaped, 0);
  }
  // Last, for it may be taken again immediately: an inode that was never named, or that was being
  // freed.
  if (const uint64_t number = seat.allocating_inode.load(); number != 0) {
    Inode* inode = inode_at(fs_, number);
    if (inode != nullptr && !is_by(pool, seat, *inode)) inode = nullptr;
    if (inode != nullptr && (inode->state.load() & 7) == format::inode_allocating) {
      // Only a link's text can hang from it, in one block.
      const Entry entry{inode->direct[0].load()};
      if (entry && pool.valid(entry.block()) && entry.belongs_to(number, 0, 0) &&
          inode->orphan_of.load() == 0) {
        pool::give_back_of_dead(pool, entry.block(), number);
        pool.store_flush(inode->direct[0], 0);
      }
      pool.store(inode->links, 0);
      pool.store(inode->state, format::inode_free);  // as void as it was
    } else if (inode != nullptr && is_live(*inode) && inode->state.load() != format::inode_live) {
      pool.store(inode->state, format::inode_live);  // its end was announced and did not happen
    }
    pool.store(seat.allocating_inode, 0);
  }
}

void LaneRecovery::recover_lane(uint32_t lane) {
  fold_lane_stamps(fs_, lane);
  if (drop_lane(fs_, lane)) fs_.pool.store(fs_.pool.state->sweep, 1);
}

bool LaneRecovery::reclaim_withheld(LocalSeat& seat) { return reclaim_withheld_inside(fs_, seat); }

bool LaneRecovery::reclaim_passed(LocalSeat& seat) { return file::reclaim_passed(fs_, seat); }

}  // namespace cairn::file
