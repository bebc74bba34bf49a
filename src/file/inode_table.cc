#include <sys/stat.h>

#include <ctime>

#include "file/file_system.h"
#include "pool/lock.h"

namespace cairn::file {
namespace {

using format::inodes_per_block;

// How many inodes are looked at before the table grows.
constexpr uint64_t search_window = 512;

uint64_t state_of(const Inode& inode) { return inode.state.load() & 7; }

bool is_takeable(FileSystem& fs, const Inode& inode, uint64_t* state) {
  *state = inode.state.load();
  const uint64_t kind = *state & 7;
  return kind == format::inode_never || kind == format::inode_free ||
         (kind == format::inode_allocating && pool::is_void(fs.pool, *state >> 3));
}

// The lock word without its two top bits fits above the state.
uint64_t allocating(const LocalSeat& seat) {
  return format::inode_allocating | seat.lock_word << 3;
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

// Looks at a window of the table from a shared cursor on and remembers what is free there.
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
      if (!fs.free_inodes.push(number)) return true;
      found = true;
    }
  }
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

Inode* inode_at(const FileSystem& fs, uint64_t number) {
  if (number == 0 || number >= fs.pool.state->itable_blocks.load() * inodes_per_block)
    return nullptr;
  Spot spot;
  if (!walk(fs.pool, fs.itable(), number / inodes_per_block, &spot).ok() || !spot.entry)
    return nullptr;
  return reinterpret_cast<Inode*>(fs.pool.at(spot.block)) + number % inodes_per_block;
}

Result<Inode*> live_inode(const FileSystem& fs, uint64_t number) {
  Inode* inode = inode_at(fs, number);
  if (inode == nullptr || state_of(*inode) != format::inode_live)
    return fail(ESTALE, "inode %llu does not exist", static_cast<unsigned long long>(number));
  return inode;
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
    // Search before growing only where freed inodes are likely.
    if (!searched) {
      searched = true;
      if (search_table(fs)) continue;
    }
    CAIRN_TRY(grow_table(fs, seat, need));
  }
  Inode& inode = *made.inode;
  auto* words = reinterpret_cast<Word*>(&inode);
  const uint64_t generation = inode.generation.load() + 1;
  for (size_t i = 0; i < sizeof(Inode) / sizeof(Word); ++i) {
    if (&words[i] != &inode.state && &words[i] != &inode.generation) pool.store(words[i], 0);
  }
  const uint64_t now = now_ns();
  pool.store(inode.generation, generation);
  pool.store(inode.mode, mode);
  pool.store(inode.owner, fs.uid | static_cast<uint64_t>(fs.gid) << 32);
  pool.store(inode.atime, now);
  pool.store(inode.mtime, now);
  pool.store(inode.ctime, now);
  pool.store(inode.btime, now);
  pool.flush(&inode, sizeof inode);
  return made;
}

void inode_is_made(FileSystem& fs, LocalSeat& seat) {
  fs.pool.store(seat.words->allocating_inode, 0);
}

void unmake_inode(FileSystem& fs, LocalSeat& seat, const NewInode& made) {
  fs.pool.store_flush(made.inode->state, format::inode_free);
  fs.pool.store(seat.words->allocating_inode, 0);
  fs.free_inodes.push(made.number);
}

void free_inode(FileSystem& fs, Inode& inode, uint64_t number) {
  fs.pool.store_flush(inode.state, format::inode_free);
  fs.free_inodes.push(number);
}

uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t coarse_now_ns() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME_COARSE, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace cairn::file
