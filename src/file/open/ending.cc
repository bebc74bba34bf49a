#include "file/open/ending.h"

#include <unistd.h>

#include "file/inode/open_table.h"
#include "file/inode/reclaim.h"
#include "file/open/companion.h"
#include "pool/lanes/lock.h"

namespace cairn::file {
namespace {

bool holds_nothing(const Inode& inode) {
  uint64_t any = inode.xattr.load_relaxed();
  for (const Word& word : inode.direct) any |= word.load_relaxed();
  for (const Word& word : inode.root) any |= word.load_relaxed();
  return any == 0 && (inode.flags.load() & format::flag_companion) == 0;
}

// Removes the companion: no process can hold record locks in it any more. A failure is not
// reported, because the caller did not cause it; a companion that stays is removed with the pool.
void remove_companion(const FileSystem& fs, const Map& map) {
  if ((map.inode->flags.load() & format::flag_companion) != 0)
    (void)unlink(companion_path(fs, map).c_str());
}

}  // namespace

EndAtOnce::EndAtOnce(FileSystem& fs, LocalSeat& seat, const Map& map)
    : fs_(fs), seat_(seat), map_(map) {
  if (map.inode->opens.load() != 0 || !holds_nothing(*map.inode)) return;
  fs.pool.store(seat.words->allocating_inode, map.number);
  uint64_t state = format::inode_live;
  // A locked instruction: openers see the state before their count is read, and the bytes that the
  // last opener wrote before it closed the file are read after it.
  possible_ = fs.pool.compare_exchange(map.inode->state, state,
                                       format::inode_live | seat.lock_word << format::state_bits) &&
              map.inode->opens.load() == 0 && holds_nothing(*map.inode);
  if (!possible_) inode_is_kept(fs, seat, map);
}

EndAtOnce::~EndAtOnce() {
  if (possible_) inode_is_kept(fs_, seat_, map_);
}

void EndAtOnce::finish() {
  inode_is_retired(fs_, seat_, map_);
  possible_ = false;
}

bool may_open(FileSystem& fs, LocalSeat& seat, Inode& inode) {
  if (inode.state.load() == format::inode_live && inode.links.load() != 0) [[likely]]
    return true;
  if (!is_live(inode)) return false;
  pool::LockGuard lock(fs.pool, seat, inode.lock);
  return is_live(inode);
}

void end_if_unused(FileSystem& fs, LocalSeat& seat, uint64_t number) {
  Inode* inode = inode_at(fs, number);
  if (inode == nullptr) return;
  const Map map{inode, number};
  {
    pool::LockGuard lock(fs.pool, seat, inode->lock);
    if (!is_live(*inode) || inode->links.load() != 0) return;
    if (inode->opens.load() != 0 && is_open(fs, number)) return;
    remove_companion(fs, map);
    OrphanList list(fs, seat);
    pool::RedoChange change(fs.pool, seat);
    // If the commit cannot write back, recovery replays the record.
    list.commit(change, map, map.inode->size.load() >> format::block_shift).ignore();
  }
  reclaim_some(fs, seat);
}

void sweep_unlinked(FileSystem& fs, LocalSeat& seat) {
  if (fs.pool.state->sweep.load() == 0) return;
  fs.pool.store(fs.pool.state->sweep, 0);
  const uint64_t total = fs.pool.state->itable_blocks.load() * format::inodes_per_block;
  for (uint64_t number = format::root_inode + 1; number < total; ++number) {
    const Inode* inode = inode_at(fs, number);
    if (inode != nullptr && is_live(*inode) && inode->links.load() == 0)
      end_if_unused(fs, seat, number);
  }
}

}  // namespace cairn::file
