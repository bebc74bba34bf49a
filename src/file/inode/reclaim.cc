#include "file/inode/reclaim.h"

#include <algorithm>
#include <span>

#include "file/inode/pins.h"
#include "pool/lanes/epoch.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/recover.h"
#include "pool/lanes/seats.h"
#include "pool/space/release.h"
#include "pool/space/space.h"

namespace cairn::file {
namespace {

// The number of orphans that start a pass, and the number of blocks that a pass frees at most. A
// pass looks at every attached lane once, and holds the list's lock.
constexpr uint64_t orphans_per_pass = 32;
constexpr uint64_t orphaned_blocks_per_pass = 1024;  // 4 MiB
constexpr uint64_t blocks_per_pass = 65536;
// The number of blocks that is enough to continue with, before untouched memory is taken.
constexpr uint64_t blocks_to_go_on = 2 * format::chunk_blocks;
constexpr uint64_t others_per_pass = 4;
// The time that a process waits for others that are inside calls. A process that waits inside a
// call of its own may be what another one waits for. Most calls take microseconds.
constexpr int patience_outside_ms = 1000;
constexpr int patience_inside_ms = 20;
constexpr int most_passes = 8;

uint32_t shard_of(const LocalSeat& seat) { return seat.lane % format::orphan_shards; }

// Frees the blocks that it visits, in runs, until its budget is used up.
class Reaper final : public MapVisitor {
 public:
  Reaper(FileSystem& fs, LocalSeat& seat, uint64_t budget)
      : pool_(fs.pool), seat_(seat), budget_(budget) {}

  bool data(Word& word, Entry entry, uint64_t /*file_block*/, uint64_t blocks) override {
    if (blocks != 1) {
      flush();
      pool::free_leaf(pool_, seat_, entry.block(), word);
      freed += blocks;
      return freed < budget_;
    }
    const bool joins = count_ != 0 && count_ < format::chunk_blocks && &word == words_ + count_ &&
                       entry.block() == first_.plus(count_) &&
                       entry.block().index() % format::chunk_blocks != 0;
    if (!joins) {
      flush();
      first_ = entry.block();
      words_ = &word;
    }
    ++count_;
    return freed + count_ < budget_;
  }
  bool after_node(Word& word, Entry entry, uint64_t /*file_block*/, unsigned /*level*/) override {
    flush();
    pool::free_published(pool_, seat_, entry.block(), 1, &word);
    ++freed;
    return freed < budget_;
  }
  bool damage(Word& word, uint64_t /*file_block*/, unsigned /*level*/) override {
    pool_.store_flush(word, 0);  // the block that it named is unknown; `check` reports the leak
    return true;
  }
  void flush() {
    if (count_ == 0) return;
    pool::free_published(pool_, seat_, first_, count_, words_);
    freed += count_;
    count_ = 0;
  }

  uint64_t freed = 0;

 private:
  Pool& pool_;
  LocalSeat& seat_;
  uint64_t budget_;
  BlockRef first_;
  Word* words_ = nullptr;
  uint32_t count_ = 0;
};

bool any_orphans(const Pool& pool) {
  return std::any_of(pool.orphans, pool.orphans + format::orphan_shards,
                     [](const format::OrphanShard& shard) { return shard.head.load() != 0; });
}

// Visits the blocks of an orphan: all of an ended file, or the part that was cut from another one.
bool visit_orphan(const FileSystem& fs, const Map& orphan, MapVisitor& visitor) {
  const Inode& inode = *orphan.inode;
  const bool is_cut = (inode.flags.load() & format::flag_change) != 0;
  const Map whose{orphan.inode, is_cut ? inode.orphan_of.load() : orphan.number};
  return visit_map(fs.pool, whose, is_cut ? inode.orphan_from.load() : 0,
                   is_cut ? inode.orphan_to.load() : max_file_blocks, visitor);
}

class Counter final : public MapVisitor {
 public:
  bool data(Word& /*word*/, Entry /*entry*/, uint64_t /*file_block*/, uint64_t n) override {
    blocks += n;
    return true;
  }
  bool after_node(Word& /*word*/, Entry /*entry*/, uint64_t /*file_block*/,
                  unsigned /*level*/) override {
    ++blocks;
    return true;
  }
  uint64_t blocks = 0;
};

// Frees an orphan's blocks. Returns true when none is left.
bool reap(FileSystem& fs, LocalSeat& seat, const Map& orphan, uint64_t budget, uint64_t* freed) {
  Inode& inode = *orphan.inode;
  Reaper reaper(fs, seat, budget);
  const bool all = visit_orphan(fs, orphan, reaper);
  reaper.flush();
  if (all) {
    const Entry xattr{inode.xattr.load()};
    if (xattr && fs.pool.valid(xattr.block())) {
      pool::free_published(fs.pool, seat, xattr.block(), 1, &inode.xattr);
      ++reaper.freed;
    }
  }
  *freed += reaper.freed;
  return all;
}

}  // namespace

OrphanList::OrphanList(FileSystem& fs, LocalSeat& seat)
    : fs_(fs), shard_(fs.pool.orphans[shard_of(seat)]) {
  pool::acquire(fs.pool, seat, shard_.lock);
}

OrphanList::~OrphanList() { pool::release(fs_.pool, shard_.lock); }

Status OrphanList::commit(pool::RedoChange& change, const Map& orphan, uint64_t blocks) {
  change.set(orphan.inode->orphan_next, change.get(shard_.head));
  change.set(orphan.inode->orphan_epoch, 0);
  change.set(orphan.inode->state, format::inode_orphan);
  change.set(shard_.head, orphan.number);
  fs_.pool.orphans_made.fetch_add(1, std::memory_order_relaxed);
  fs_.pool.blocks_orphaned.fetch_add(blocks, std::memory_order_relaxed);
  CAIRN_TRY(change.commit());
  // The epoch is read after the commit: a process that began before the commit, in whatever epoch,
  // may be copying from blocks that the commit cuts off.
  fs_.pool.store(orphan.inode->orphan_epoch, pool::current_epoch(fs_.pool));
  return Status();
}

namespace {
// Returns the epoch that must have passed. If the orphan's maker died before it stored one, that is
// the current epoch.
uint64_t epoch_of(Pool& pool, Inode& orphan) {
  if (orphan.orphan_epoch.load() == 0) pool.store(orphan.orphan_epoch, pool::current_epoch(pool));
  return orphan.orphan_epoch.load();
}
}  // namespace

namespace {

// Frees what can be freed in a list whose lock the seat holds.
uint64_t reclaim_held(FileSystem& fs, LocalSeat& seat, format::OrphanShard& shard) {
  Pool& pool = fs.pool;
  if (!pool.see_growth().ok()) return 0;  // a block there would look like damage
  uint64_t freed = 0;
  Word* link = &shard.head;
  uint64_t passed_epoch = 0;
  while (freed < blocks_per_pass) {
    const uint64_t at = link->load();
    Inode* inode = at == 0 ? nullptr : inode_at(fs, at);
    if (inode == nullptr || (inode->state.load() & 7) != format::inode_orphan) break;
    const uint64_t epoch = epoch_of(pool, *inode);
    if (epoch > passed_epoch && !pool::has_passed(pool, epoch, &seat)) {
      link = &inode->orphan_next;  // orphans behind this one are older
      continue;
    }
    passed_epoch = std::max(passed_epoch, epoch);
    const bool is_cut = (inode->flags.load() & format::flag_change) != 0;
    if (is_pinned(fs, is_cut ? inode->orphan_of.load() : at)) {
      link = &inode->orphan_next;
      continue;
    }
    if (!reap(fs, seat, {inode, at}, blocks_per_pass, &freed)) break;
    pool::RedoChange change(pool, seat);
    change.set(*link, inode->orphan_next.load());
    retire_inode(fs, seat, change, {inode, at});
    if (!change.commit().ok()) break;
    inode_is_retired(fs, seat, {inode, at});
  }
  return freed;
}

}  // namespace

uint64_t reclaim_list(FileSystem& fs, LocalSeat& seat, uint32_t number) {
  format::OrphanShard& shard = fs.pool.orphans[number];
  if (shard.head.load() == 0 || !pool::try_acquire(fs.pool, seat, shard.lock)) return 0;
  const uint64_t freed = reclaim_held(fs, seat, shard);
  pool::release(fs.pool, shard.lock);
  return freed;
}

void reclaim_soon(FileSystem& fs) {
  fs.pool.orphans_made.store(orphans_per_pass, std::memory_order_relaxed);
}

void reclaim_some(FileSystem& fs, LocalSeat& seat) {
  pool::release_idle(fs.pool, seat);
  if (fs.pool.orphans_made.load(std::memory_order_relaxed) < orphans_per_pass &&
      fs.pool.blocks_orphaned.load(std::memory_order_relaxed) < orphaned_blocks_per_pass)
    return;
  fs.pool.orphans_made.store(0, std::memory_order_relaxed);
  fs.pool.blocks_orphaned.store(0, std::memory_order_relaxed);
  uint64_t freed = reclaim_list(fs, seat, shard_of(seat));
  // Each pass also takes a few lists whose lanes have no owner since theirs died, in turn.
  const uint64_t turn = pool::current_epoch(fs.pool) * others_per_pass;
  for (uint64_t i = 0; i < others_per_pass; ++i)
    freed += reclaim_list(fs, seat, static_cast<uint32_t>((turn + i) % format::orphan_shards));
  // No block came back: perhaps a process died inside a call and blocks the epoch.
  if (freed == 0) pool::recover_the_dead(fs.pool);
}

uint64_t count_withheld(const FileSystem& fs) {
  Counter counter;
  // Lists change while they are read. An inode that is no longer an orphan ends its list, and no
  // list is longer than this.
  uint64_t most = fs.pool.state->itable_blocks.load() * format::inodes_per_block;
  for (uint32_t shard = 0; shard < format::orphan_shards; ++shard) {
    for (uint64_t at = fs.pool.orphans[shard].head.load(); at != 0 && most > 0; --most) {
      Inode* inode = inode_at(fs, at);
      if (inode == nullptr || (inode->state.load() & 7) != format::inode_orphan) break;
      visit_orphan(fs, {inode, at}, counter);
      if (inode->xattr.load() != 0) ++counter.blocks;
      at = inode->orphan_next.load();
    }
  }
  return counter.blocks;
}

bool reclaim_passed(FileSystem& fs, LocalSeat& seat) {
  // The seat has one note for an inode that is made or retired, and it may be in use.
  if (seat.words->allocating_inode.load_relaxed() != 0) return false;
  uint64_t freed = 0;
  for (uint32_t i = 0; i < format::orphan_shards && freed < blocks_to_go_on; ++i)
    freed += reclaim_list(fs, seat, (shard_of(seat) + i) % format::orphan_shards);
  return freed != 0;
}

namespace {

// Reclaims in several passes. The first pass advances the epoch; processes inside a call leave soon
// after it. Blocks that they withheld may be freed and taken by others before the next pass.
// reclaim() returns whether any block came back; wait(epoch) waits for the processes inside.
template <typename Reclaim, typename Wait>
bool reclaim_in_passes(const FileSystem& fs, Reclaim reclaim, Wait wait) {
  for (int pass = 0; pass < most_passes; ++pass) {
    if (reclaim()) return true;
    // The lists' orphans were added in this epoch or before.
    if (!any_orphans(fs.pool) || !wait(pool::current_epoch(fs.pool))) return false;
  }
  return false;
}

// Waits for processes that reclaim from a list: the blocks that they free have come back as well.
bool reclaim_after_others(FileSystem& fs) {
  bool came_back = false;
  const pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return false;
  for (format::OrphanShard& shard : std::span(fs.pool.orphans, format::orphan_shards)) {
    if (shard.head.load() == 0) continue;
    if (!pool::try_acquire(fs.pool, *seat, shard.lock)) {
      pool::acquire(fs.pool, *seat, shard.lock);
      came_back = true;
    }
    came_back = reclaim_held(fs, *seat, shard) != 0 || came_back;
    pool::release(fs.pool, shard.lock);
  }
  return came_back;
}

}  // namespace

bool reclaim_withheld(FileSystem& fs) {
  return reclaim_in_passes(
      fs, [&] { return reclaim_after_others(fs); },
      [&](uint64_t epoch) {
        return pool::wait_until_passed(fs.pool, epoch, nullptr, patience_outside_ms);
      });
}

bool reclaim_withheld_inside(FileSystem& fs, LocalSeat& seat) {
  return reclaim_in_passes(
      fs,
      [&] {
        uint64_t freed = 0;
        for (uint32_t shard = 0; shard < format::orphan_shards; ++shard)
          freed += reclaim_list(fs, seat, shard);
        return freed != 0;
      },
      [&](uint64_t epoch) {
        return pool::wait_until_passed(fs.pool, epoch, &seat, patience_inside_ms);
      });
}

}  // namespace cairn::file
