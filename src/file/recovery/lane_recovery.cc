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

// Finds the map that an inode number in a block record or slot refers to.
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

// Returns the block of the node of `level` that covers the file block. Both arguments may come from
// a damaged medium.
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

// Returns true if this seat of a dead lane makes or ends the inode. Others may have taken the
// number since, or before the seat reached that step: the seat's note stands from before to after.
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

// Returns a value that is not a change time and differs from the value before: a drain that copies
// the file at this moment then sees that it must not count the file as drained
// (tier::set_drained_as_of).
uint64_t void_time(uint64_t drained) {
  constexpr uint64_t voids = 1U << 20;  // nanoseconds after the epoch
  return drained < voids ? drained + 1 : 1;
}

}  // namespace

void LaneRecovery::recover_seat(format::Seat& seat) {
  Pool& pool = fs_.pool;
  // The process died inside a call, so an inode may have lost its last name without being ended. A
  // search for such inodes reads every inode. A process that dies between calls, as most programs
  // do when they exit, does not cause it.
  if (seat.epoch.load() != 0) {
    pool.store(pool.state->sweep, 1);
    // The process may have died while it wrote: bytes may have changed before the stamp did. The
    // next drain copies the file. The file's time stays, because the write may have been staging.
    const uint64_t number = seat.writing.load();
    Inode* inode = number != 0 ? inode_at(fs_, number) : nullptr;
    if (inode != nullptr && is_live(*inode) && (inode->flags.load() & format::flag_lazy) == 0) {
      pool.store_flush(inode->drained, void_time(inode->drained.load()));
      forget_move(pool, *inode);
    }
  }
  // Zeroes bytes beyond the end of file that an extending write left.
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
      // The shape is flushed even if it was even again: the seat's owner may have died before it
      // flushed it.
      pool.flush(&inode->shape, sizeof(Word));
    }
    pool.store(shaped, 0);
  }
  // This step is the last, because the inode may be taken again immediately: it was never named, or
  // was being freed.
  if (const uint64_t number = seat.allocating_inode.load(); number != 0) {
    Inode* inode = inode_at(fs_, number);
    if (inode != nullptr && !is_by(pool, seat, *inode)) inode = nullptr;
    if (inode != nullptr && (inode->state.load() & 7) == format::inode_allocating) {
      // The inode has at most a link's text, in one block.
      const Entry entry{inode->direct[0].load()};
      if (entry && pool.valid(entry.block()) && entry.belongs_to(number, 0, 0) &&
          inode->orphan_of.load() == 0) {
        pool::give_back_of_dead(pool, entry.block(), number);
        pool.store_flush(inode->direct[0], 0);
      }
      pool.store(inode->links, 0);
      pool.store(inode->state, format::inode_free);  // as void as before
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
