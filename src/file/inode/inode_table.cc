#include <sys/fsuid.h>
#include <sys/stat.h>

#include "base/coarse_clock.h"
#include "file/inode/file_system.h"
#include "file/map/map_growth.h"
#include "pool/core/lock_word.h"

namespace cairn::file {
namespace {

using format::inodes_per_block;
using persist::Region;

// Returns the owner of a new inode. If the file system names no user, or no group, the kernel knows
// the one as which the calling thread opens files. Both calls change nothing: they are given
// invalid IDs.
uint64_t owner_of_new(const FileSystem& fs) {
  uint64_t user = fs.uid.load(std::memory_order_relaxed);
  uint64_t group = fs.gid.load(std::memory_order_relaxed);
  if (user == UINT32_MAX) user = static_cast<uint32_t>(setfsuid(UINT32_MAX));
  if (group == UINT32_MAX) group = static_cast<uint32_t>(setfsgid(UINT32_MAX));
  return user | group << 32;
}

// The number of inodes that a search looks at before the table grows.
constexpr uint64_t search_window = 512;

// Returns true if the inode may be taken: a free one has no links, and one in the making has a
// maker. So one flipped bit in the state of a live inode does not give it to another file while
// names still lead to it.
bool is_takeable(FileSystem& fs, const Inode& inode, uint64_t* state) {
  *state = inode.state.load();
  const uint64_t kind = *state & 7;
  const uint64_t maker = *state >> format::state_bits;
  if (kind == format::inode_allocating) return maker != 0 && pool::is_void(fs.pool, maker);
  return (kind == format::inode_never || kind == format::inode_free) && inode.links.load() == 0;
}

// The lock word without its two top bits fits above the state.
uint64_t allocating(const LocalSeat& seat) {
  return format::inode_allocating | seat.lock_word << format::state_bits;
}

bool try_take(FileSystem& fs, LocalSeat& seat, uint64_t number, NewInode* made) {
  Inode* inode = inode_at(fs, number);
  if (inode == nullptr) return false;
  uint64_t state;
  if (!is_takeable(fs, *inode, &state)) return false;
  fs.pool.store(seat.words->allocating_inode, number);
  if (!fs.pool.compare_exchange(inode->state, state, allocating(seat))) {
    fs.pool.store(seat.words->allocating_inode, 0);
    return false;
  }
  *made = {inode, number};
  return true;
}

// Returns true if a search may find something. Each search without result makes more growths skip
// the next one.
bool worth_searching(FileSystem& fs) {
  if (fs.searches_to_skip.load(std::memory_order_relaxed) == 0) return true;
  fs.searches_to_skip.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

void note_search(FileSystem& fs, bool fruitful) {
  constexpr uint32_t longest = 12;
  if (fruitful) {
    fs.fruitless_searches.store(0, std::memory_order_relaxed);
    return;
  }
  uint32_t n = fs.fruitless_searches.load(std::memory_order_relaxed);
  if (n < longest) fs.fruitless_searches.store(++n, std::memory_order_relaxed);
  fs.searches_to_skip.store(1U << n, std::memory_order_relaxed);
}

// Looks at a window of the table from a shared cursor on, and remembers the free inodes.
bool search_table(FileSystem& fs) {
  Pool& pool = fs.pool;
  const uint64_t total = pool.state->itable_blocks.load() * inodes_per_block;
  if (total == 0) return false;
  const uint64_t start = pool.fetch_add(pool.state->itable_cursor, search_window);
  bool found = false;
  for (uint64_t i = 0; i < search_window && i < total; ++i) {
    const uint64_t number = (start + i) % total;
    if (number <= format::root_inode) continue;
    const Inode* inode = inode_at(fs, number);
    uint64_t state;
    if (inode != nullptr && is_takeable(fs, *inode, &state)) {
      if (!fs.free_inodes.push(number)) break;
      found = true;
    }
  }
  note_search(fs, found);
  return found;
}

Status grow_table(FileSystem& fs, LocalSeat& seat, pool::Need need) {
  Pool& pool = fs.pool;
  const uint64_t blocks = pool.state->itable_blocks.load();
  auto block = block_for(pool, seat, fs.itable(), blocks, need);
  if (!block.ok()) return block.status();
  uint64_t expected = blocks;
  if (pool.compare_exchange(pool.state->itable_blocks, expected, blocks + 1))
    pool.flush(&pool.state->itable_blocks, sizeof(Word));
  for (uint64_t i = 0; i < inodes_per_block; ++i) {
    const uint64_t number = blocks * inodes_per_block + inodes_per_block - 1 - i;
    if (number > format::root_inode) fs.free_inodes.push(number);
  }
  return Status();
}

}  // namespace

bool FileSystem::Candidates::pop(uint64_t* value) {
  uint32_t unlocked = 0;
  if (!lock.compare_exchange_strong(unlocked, 1)) return false;
  const bool some = count != 0;
  if (some) *value = number[--count];
  lock.store(0);
  return some;
}

bool FileSystem::Candidates::push(uint64_t value) {
  uint32_t unlocked = 0;
  if (!lock.compare_exchange_strong(unlocked, 1)) return false;
  const bool room = count != capacity;
  if (room) number[count++] = value;
  lock.store(0);
  return room;
}

Inode* find_inode(const FileSystem& fs, uint64_t number) {
  const uint64_t block = number / inodes_per_block;
  if (number == 0 || block >= fs.pool.state->itable_blocks.load()) return nullptr;
  MapCursor cursor;
  if (!walk(fs.pool, fs.itable(), block, &cursor).ok() || !cursor.block) return nullptr;
  uint8_t* place = fs.pool.at(cursor.block);
  fs.inode_blocks.remember(block, place);
  return reinterpret_cast<Inode*>(place) + number % inodes_per_block;
}

Status no_inode(uint64_t number) {
  return fail(ESTALE, "inode %llu does not exist", static_cast<unsigned long long>(number));
}

Result<NewInode> make_inode(FileSystem& fs, LocalSeat& seat, uint32_t mode, pool::Need need) {
  Pool& pool = fs.pool;
  NewInode made;
  for (bool searched = false;;) {
    uint64_t number;
    if (fs.free_inodes.pop(&number)) {
      if (try_take(fs, seat, number, &made)) break;
      continue;
    }
    if (!searched && worth_searching(fs)) {
      searched = true;
      if (search_table(fs)) continue;
    }
    CAIRN_TRY(grow_table(fs, seat, need));
  }
  Inode& inode = *made.inode;
  pool::Segment& segment = pool.segment_of(&inode);
  Region& region = segment.region;
  const uint64_t generation = inode.generation.load() + 1;
  // State, shape, locks and the count of openers keep their values: a late process may still hold
  // the inode from an earlier life.
  for (Word* word : {&inode.flags, &inode.links, &inode.rdev, &inode.size, &inode.mtime,
                     &inode.change, &inode.orphan_of, &inode.lower_parent, &inode.lower_unit,
                     &inode.drained, &inode.stamps, &inode.orphan_next, &inode.orphan_epoch,
                     &inode.orphan_from, &inode.orphan_to, &inode.xattr})
    region.store(*word, 0);
  const uint64_t map = Pool::offset_in(segment, inode.direct);
  const uint64_t text = Pool::offset_in(segment, inode.text);
  CAIRN_TRY(region.zero(map, sizeof inode.direct + sizeof inode.root));
  region.store(inode.quota, 0);
  CAIRN_TRY(region.zero(text, sizeof inode.text));
  const uint64_t now = now_ns();
  region.store(inode.generation, generation);
  region.store(inode.mode, mode);
  region.store(inode.owner, owner_of_new(fs));
  for (Word* time : {&inode.atime, &inode.mtime, &inode.ctime, &inode.btime})
    region.store(*time, now);
  region.flush(&inode, sizeof inode);
  return made;
}

void inode_is_made(FileSystem& fs, LocalSeat& seat) {
  fs.pool.store(seat.words->allocating_inode, 0);
}

void unmake_inode(FileSystem& fs, LocalSeat& seat, const NewInode& made) {
  // The store is not flushed: after a power loss the old state, "in the making by a seat that is
  // gone", is as free.
  fs.pool.store(made.inode->links, 0);
  fs.pool.store(made.inode->state, format::inode_free);
  fs.pool.store(seat.words->allocating_inode, 0);
  fs.free_inodes.push(made.number);
}

void retire_inode(FileSystem& fs, LocalSeat& seat, pool::RedoChange& change, const Map& map) {
  fs.pool.store(seat.words->allocating_inode, map.number);
  change.set(map.inode->state, allocating(seat));
}

void inode_is_retired(FileSystem& fs, LocalSeat& seat, const Map& map) {
  unmake_inode(fs, seat, {map.inode, map.number});
}

void inode_is_kept(FileSystem& fs, LocalSeat& seat, const Map& map) {
  fs.pool.store_flush(map.inode->state, format::inode_live);
  fs.pool.store(seat.words->allocating_inode, 0);
}

uint64_t now_ns() { return fine_now_ns(); }

}  // namespace cairn::file
