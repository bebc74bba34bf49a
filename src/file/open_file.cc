#include "file/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "file/attributes.h"
#include "file/cut.h"
#include "file/fill_ahead.h"
#include "file/reclaim.h"
#include "pool/lock.h"
#include "pool/space.h"

namespace cairn::file {
namespace {

using format::open_files_per_block;
using format::OpenFile;

OpenFile* open_file_at(const FileSystem& fs, uint64_t slot) {
  if (slot >= fs.pool.state->otable_blocks.load() * open_files_per_block) return nullptr;
  Spot spot;
  if (!walk(fs.pool, fs.otable(), slot / open_files_per_block, &spot).ok() || !spot.block)
    return nullptr;
  return reinterpret_cast<OpenFile*>(fs.pool.at(spot.block)) + slot % open_files_per_block;
}

uint64_t slots(const FileSystem& fs) {
  return fs.pool.state->otable_blocks.load() * open_files_per_block;
}

uint32_t first_lane(const FileSystem& fs) { return fs.pool.held.front().number; }

void hold(Pool& pool, OpenFile& open, uint32_t lane) {
  pool.fetch_or(open.holder[lane / 64], 1ULL << (lane % 64));
}

bool has_holder(const OpenFile& open) {
  return std::any_of(std::begin(open.holder), std::end(open.holder),
                     [](const Word& w) { return w.load() != 0; });
}

// Nobody holds it: the description is over. True for the one who ended it.
bool end_description(FileSystem& fs, OpenFile& open, uint64_t slot) {
  uint64_t state = open.state.load();
  if ((state & format::open_mask) != format::open_live || has_holder(open)) return false;
  const uint64_t number = open.inode.load();
  if (number == 0) return false;
  const uint64_t next = format::open_state(format::open_generation(state) + 1, format::open_free);
  if (!fs.pool.compare_exchange(open.state, state, next)) return false;
  if (Inode* inode = inode_at(fs, number)) fs.pool.fetch_add(inode->opens, ~0ULL);
  fs.free_open_files.push(slot);
  return true;
}

bool try_make(FileSystem& fs, uint64_t slot, OpenFile** made) {
  OpenFile* open = open_file_at(fs, slot);
  if (open == nullptr) return false;
  uint64_t state = open->state.load();
  if ((state & format::open_mask) != format::open_free) return false;
  const uint64_t making = format::open_state(format::open_generation(state), format::open_making,
                                             first_lane(fs) + 1);
  if (!fs.pool.compare_exchange(open->state, state, making)) return false;
  *made = open;
  return true;
}

Status make_description(FileSystem& fs, LocalSeat& seat, uint64_t* slot, OpenFile** made) {
  constexpr uint64_t window = 256;
  Pool& pool = fs.pool;
  for (bool searched = false;;) {
    while (fs.free_open_files.pop(slot)) {
      if (try_make(fs, *slot, made)) return Status();
    }
    if (!searched) {
      searched = true;
      const uint64_t total = slots(fs);
      const uint64_t start = total == 0 ? 0 : pool.fetch_add(pool.state->otable_cursor, window);
      for (uint64_t i = 0; i < window && i < total; ++i) {
        const uint64_t at = (start + i) % total;
        const OpenFile* open = open_file_at(fs, at);
        if (open != nullptr && (open->state.load() & format::open_mask) == format::open_free)
          fs.free_open_files.push(at);
      }
      continue;
    }
    const uint64_t blocks = pool.state->otable_blocks.load();
    auto block = block_for(pool, seat, fs.otable(), blocks, pool::Need::ordinary);
    if (!block.ok()) return annotate(block.status(), "no room for an open file");
    uint64_t expected = blocks;
    pool.compare_exchange(pool.state->otable_blocks, expected, blocks + 1);
    for (uint64_t i = 0; i < open_files_per_block; ++i)
      fs.free_open_files.push(blocks * open_files_per_block + open_files_per_block - 1 - i);
  }
}

void list_file(FileSystem& fs, File* file) {
  std::lock_guard guard(fs.files_lock);
  file->next = fs.files;
  if (fs.files != nullptr) fs.files->previous = file;
  fs.files = file;
}

void unlist_file(FileSystem& fs, File* file) {
  std::lock_guard guard(fs.files_lock);
  if (file->previous != nullptr) file->previous->next = file->next;
  if (file->next != nullptr) file->next->previous = file->previous;
  if (fs.files == file) fs.files = file->next;
}

std::unique_ptr<File> make_handle(FileSystem& fs, Inode* inode, uint64_t number, OpenFile* open,
                                  uint64_t slot, int flags) {
  auto file = std::make_unique<File>();
  file->fs = &fs;
  file->inode = inode;
  file->number = number;
  static std::atomic<uint64_t> serials{0};
  file->serial = ++serials;
  file->shared = open;
  file->slot = slot;
  file->slot_generation = format::open_generation(open->state.load());
  const int access = flags & O_ACCMODE;
  const bool path_only = (flags & O_PATH) != 0;
  file->readable = !path_only && access != O_WRONLY;
  file->writable = !path_only && access != O_RDONLY;
  file->directory = S_ISDIR(inode->mode.load());
  file->synchronous = (flags & (O_SYNC | O_DSYNC)) != 0;
  list_file(fs, file.get());
  return file;
}

}  // namespace

Result<std::unique_ptr<File>> open_inode(FileSystem& fs, LocalSeat& seat, uint64_t number,
                                         int flags) {
  auto inode = live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  Pool& pool = fs.pool;
  if (pool.read_only) {
    auto own = std::make_unique<OpenFile>();
    pool.store(own->flags, static_cast<uint64_t>(static_cast<uint32_t>(flags)));
    auto file = make_handle(fs, *inode, number, own.get(), 0, flags);
    file->own = std::move(own);
    return file;
  }
  uint64_t slot = 0;
  OpenFile* open = nullptr;
  CAIRN_TRY(make_description(fs, seat, &slot, &open));
  // The count goes up before the look at the state, and unlink looks at the count after it has changed
  // the links: one of the two sees the other.
  pool.store(open->inode, number);
  pool.fetch_add((*inode)->opens, 1);
  if (((*inode)->state.load() & 7) != format::inode_live) {
    pool.fetch_add((*inode)->opens, ~0ULL);
    pool.store(open->state,
               format::open_state(format::open_generation(open->state.load()), format::open_free));
    return fail(ESTALE, "inode %llu was removed", static_cast<unsigned long long>(number));
  }
  pool.store(open->inode_generation, (*inode)->generation.load());
  pool.store(open->offset, 0);
  pool.store(open->flags, static_cast<uint64_t>(static_cast<uint32_t>(flags)));
  pool.store(open->lock, 0);
  hold(pool, *open, first_lane(fs));
  pool.store(open->state,
             format::open_state(format::open_generation(open->state.load()), format::open_live));
  return make_handle(fs, *inode, number, open, slot, flags);
}

Result<std::unique_ptr<File>> adopt(FileSystem& fs, LocalSeat& /*seat*/, uint64_t slot,
                                    uint64_t generation) {
  OpenFile* open = open_file_at(fs, slot);
  const uint64_t live = format::open_state(generation, format::open_live);
  if (open == nullptr || open->state.load() != live)
    return fail(EBADF, "open file %llu is gone", static_cast<unsigned long long>(slot));
  hold(fs.pool, *open, first_lane(fs));
  Inode* inode = inode_at(fs, open->inode.load());
  // Held from now on, if it was not ended just before.
  if (open->state.load() != live || inode == nullptr)
    return fail(EBADF, "open file %llu is gone", static_cast<unsigned long long>(slot));
  return make_handle(fs, inode, open->inode.load(), open, slot, static_cast<int>(open->flags.load()));
}

void close_file(LocalSeat& seat, std::unique_ptr<File> file) {
  FileSystem& fs = *file->fs;
  unlist_file(fs, file.get());
  if (fs.pool.read_only) return;
  fold_stamp(*file);
  const Ahead ahead = take_ahead(*file);
  free_zero_blocks(fs, seat, ahead.map, ahead.from, ahead.to);
  // Another handle of this process on the same description keeps the lane's hold.
  {
    std::lock_guard guard(fs.files_lock);
    for (const File* other = fs.files; other != nullptr && file->adopted_twice; other = other->next) {
      if (other->shared == file->shared) return;
    }
  }
  OpenFile& open = *file->shared;
  const uint32_t lane = first_lane(fs);
  fs.pool.fetch_and(open.holder[lane / 64], ~(1ULL << (lane % 64)));
  if (end_description(fs, open, file->slot) && file->inode->links.load() == 0)
    end_if_unused(fs, seat, file->number);
}

void share_with_lane(FileSystem& fs, uint32_t lane) {
  std::lock_guard guard(fs.files_lock);
  for (File* file = fs.files; file != nullptr; file = file->next) hold(fs.pool, *file->shared, lane);
}

void share_with_lane(const File& file, uint32_t lane) {
  hold(file.fs->pool, *file.shared, lane);
}

bool drop_lane(FileSystem& fs, uint32_t lane) {
  bool ended = false;
  const uint64_t bit = 1ULL << (lane % 64);
  for (uint64_t slot = 0; slot < slots(fs); ++slot) {
    OpenFile* open = open_file_at(fs, slot);
    if (open == nullptr) continue;
    const uint64_t state = open->state.load();
    if ((state & format::open_mask) == format::open_making &&
        format::open_maker(state) == lane + 1) {
      // It died while making this one: its count in the inode, if it got that far, stays too high,
      // which costs a look through this table and nothing else.
      for (Word& word : open->holder) fs.pool.store(word, 0);
      fs.pool.store(open->state,
                    format::open_state(format::open_generation(state) + 1, format::open_free));
      continue;
    }
    if ((open->holder[lane / 64].load() & bit) == 0) continue;
    fs.pool.fetch_and(open->holder[lane / 64], ~bit);
    ended = end_description(fs, *open, slot) || ended;
  }
  return ended;
}

bool is_open(const FileSystem& fs, uint64_t number) {
  for (uint64_t slot = 0; slot < slots(fs); ++slot) {
    const OpenFile* open = open_file_at(fs, slot);
    if (open == nullptr) continue;
    const uint64_t state = open->state.load() & format::open_mask;
    if (state != format::open_free && open->inode.load() == number) return true;
  }
  return false;
}

void end_if_unused(FileSystem& fs, LocalSeat& seat, uint64_t number) {
  Inode* inode = inode_at(fs, number);
  if (inode == nullptr) return;
  {
    pool::LockGuard lock(fs.pool, seat, inode->lock);
    if ((inode->state.load() & 7) != format::inode_live || inode->links.load() != 0) return;
    if (inode->opens.load() != 0 && is_open(fs, number)) return;
    OrphanList list(fs, seat);
    pool::Change change(fs.pool, seat);
    list.add(change, {inode, number});
    // A failure to write back leaves the record to recovery.
    change.commit().ignore();
  }
  reclaim_some(fs, seat);
}

void sweep_unlinked(FileSystem& fs, LocalSeat& seat) {
  if (fs.pool.state->sweep.load() == 0) return;
  fs.pool.store(fs.pool.state->sweep, 0);
  const uint64_t total = fs.pool.state->itable_blocks.load() * format::inodes_per_block;
  for (uint64_t number = format::root_inode + 1; number < total; ++number) {
    const Inode* inode = inode_at(fs, number);
    if (inode != nullptr && (inode->state.load() & 7) == format::inode_live &&
        inode->links.load() == 0)
      end_if_unused(fs, seat, number);
  }
}

OffsetGuard::OffsetGuard(File& file, LocalSeat& seat) : file_(file) {
  if (file.fs->pool.read_only) return;
  pool::acquire(file.fs->pool, seat, file.shared->lock);
}
OffsetGuard::~OffsetGuard() {
  if (!file_.fs->pool.read_only) pool::release(file_.fs->pool, file_.shared->lock);
}

}  // namespace cairn::file
