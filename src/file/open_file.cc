#include "file/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <new>
#include <utility>

#include "file/attributes.h"
#include "file/cut.h"
#include "file/ending.h"
#include "file/fill_ahead.h"
#include "pool/lock.h"
#include "pool/space.h"

namespace cairn::file {
namespace {

using format::open_files_per_block;
using format::OpenFile;

OpenFile* open_file_at(const FileSystem& fs, uint64_t slot) {
  const uint64_t number = slot / open_files_per_block;
  uint8_t* block = fs.open_file_blocks.find(number);
  if (block == nullptr) [[unlikely]] {
    if (number >= fs.pool.state->otable_blocks.load()) return nullptr;
    Spot spot;
    if (!walk(fs.pool, fs.otable(), number, &spot).ok() || !spot.block) return nullptr;
    block = fs.pool.at(spot.block);
    fs.open_file_blocks.remember(number, block);
  }
  return reinterpret_cast<OpenFile*>(block) + slot % open_files_per_block;
}

uint64_t slots(const FileSystem& fs) {
  return fs.pool.state->otable_blocks.load() * open_files_per_block;
}

uint32_t first_lane(const FileSystem& fs) { return fs.pool.held.front().number; }

void hold(Pool& pool, OpenFile& open, uint32_t lane) {
  pool.fetch_or(open.holder[lane / 64], 1ULL << (lane % 64));
}

void let_go(Pool& pool, OpenFile& open, uint32_t lane) {
  pool.fetch_and(open.holder[lane / 64], ~(1ULL << (lane % 64)));
}

bool has_holder(const OpenFile& open) {
  return std::any_of(std::begin(open.holder), std::end(open.holder),
                     [](const Word& w) { return w.load() != 0; });
}

bool is_only_holder(const OpenFile& open, uint32_t lane) {
  for (uint32_t w = 0; w < std::size(open.holder); ++w) {
    const uint64_t mine = w == lane / 64 ? 1ULL << (lane % 64) : 0;
    if ((open.holder[w].load() & ~mine) != 0) return false;
  }
  return true;
}

// Nobody holds it: the description is over. True for the one who ended it.
bool end_description(FileSystem& fs, OpenFile& open) {
  uint64_t state = open.state.load();
  if ((state & format::open_mask) != format::open_live || has_holder(open)) return false;
  const uint64_t number = open.inode.load();
  if (number == 0) return false;
  const uint64_t next = format::open_state(format::open_generation(state) + 1, format::open_free);
  if (!fs.pool.compare_exchange(open.state, state, next)) return false;
  if (Inode* inode = inode_at(fs, number)) fs.pool.fetch_add(inode->opens, ~0ULL);
  return true;
}

bool try_make(FileSystem& fs, uint64_t slot, OpenFile** made) {
  OpenFile* open = open_file_at(fs, slot);
  if (open == nullptr) return false;
  uint64_t state = open->state.load();
  if ((state & format::open_mask) != format::open_free) return false;
  const uint64_t making =
      format::open_state(format::open_generation(state), format::open_making, first_lane(fs) + 1);
  if (!fs.pool.compare_exchange(open->state, state, making)) return false;
  fs.pool.store(open->ahead, 0);
  *made = open;
  return true;
}

File*& spare_of(FileSystem& fs, const LocalSeat& seat) {
  return fs.spare_files[static_cast<size_t>(&seat - fs.pool.seats.data())];
}

// The handle that this seat closed last, or a new one.
std::unique_ptr<File> take_handle(FileSystem& fs, const LocalSeat& seat) {
  File* spare = std::exchange(spare_of(fs, seat), nullptr);
  return spare != nullptr ? std::unique_ptr<File>(spare) : std::make_unique<File>();
}

// Handle and description are over: kept for the next, with its slot, or not.
void put_handle(FileSystem& fs, const LocalSeat& seat, std::unique_ptr<File> file) {
  const uint64_t slot = file->slot;
  File*& spare = spare_of(fs, seat);
  if (spare != nullptr) {
    fs.free_open_files.push(slot);
    return;
  }
  File* place = file.release();
  place->~File();
  spare = new (place) File;
  spare->slot = slot;
}

// `slot` says where to try first, and then where it is.
Status make_description(FileSystem& fs, LocalSeat& seat, uint64_t* slot, OpenFile** made) {
  constexpr uint64_t window = 256;
  Pool& pool = fs.pool;
  if (try_make(fs, *slot, made)) return Status();
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

void list_file(FileSystem& fs, File* file, bool adopted) {
  std::lock_guard guard(fs.files_lock);
  file->serial = ++fs.last_serial;
  for (File* other = fs.files; adopted && other != nullptr; other = other->next) {
    if (other->shared == file->shared) file->adopted_twice = other->adopted_twice = true;
  }
  file->next = fs.files;
  if (fs.files != nullptr) fs.files->previous = file;
  fs.files = file;
}

// True if no other handle of this process is on the same description.
bool unlist_file(FileSystem& fs, File* file) {
  std::lock_guard guard(fs.files_lock);
  if (file->previous != nullptr) file->previous->next = file->next;
  if (file->next != nullptr) file->next->previous = file->previous;
  if (fs.files == file) fs.files = file->next;
  for (const File* other = fs.files; file->adopted_twice && other != nullptr; other = other->next) {
    if (other->shared == file->shared) return false;
  }
  return true;
}

// Fills in a fresh handle and lists it.
void fill_handle(File* file, FileSystem& fs, const Map& map, OpenFile* open, uint64_t slot,
                 int flags, bool adopted = false) {
  file->fs = &fs;
  file->inode = map.inode;
  file->number = map.number;
  file->shared = open;
  file->slot = slot;
  file->slot_generation = format::open_generation(open->state.load());
  const int access = flags & O_ACCMODE;
  const bool path_only = (flags & O_PATH) != 0;
  file->readable = !path_only && access != O_WRONLY;
  file->writable = !path_only && access != O_RDONLY;
  file->directory = S_ISDIR(map.inode->mode.load());
  file->synchronous = (flags & (O_SYNC | O_DSYNC)) != 0;
  list_file(fs, file, adopted);
}

}  // namespace

Result<std::unique_ptr<File>> open_inode(FileSystem& fs, LocalSeat& seat, uint64_t number,
                                         int flags) {
  auto inode = live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  Pool& pool = fs.pool;
  auto file = take_handle(fs, seat);
  if (pool.read_only) {
    file->own = std::make_unique<OpenFile>();
    pool.store(file->own->flags, static_cast<uint64_t>(static_cast<uint32_t>(flags)));
    fill_handle(file.get(), fs, {*inode, number}, file->own.get(), 0, flags);
    return file;
  }
  uint64_t slot = file->slot;
  OpenFile* open = nullptr;
  CAIRN_TRY(make_description(fs, seat, &slot, &open));
  assert(open != nullptr);
  persist::Region& region = pool.segment_of(open).region;
  region.store(open->inode, number);
  pool.fetch_add((*inode)->opens, 1);
  const uint64_t generation = format::open_generation(open->state.load());
  if (!may_open(fs, seat, **inode)) {
    region.store(open->state, format::open_state(generation, format::open_free));
    pool.fetch_add((*inode)->opens, ~0ULL);
    // The number may have begun another life, and lost its name, while we looked like an opener.
    if (is_live(**inode) && (*inode)->links.load() == 0) end_if_unused(fs, seat, number);
    return no_inode(number);
  }
  region.store(open->inode_generation, (*inode)->generation.load());
  region.store(open->offset, 0);
  region.store(open->flags, static_cast<uint64_t>(static_cast<uint32_t>(flags)));
  region.store(open->lock, 0);
  // Nobody else holds what is still being made.
  const uint32_t lane = first_lane(fs);
  region.store(open->holder[lane / 64], 1ULL << (lane % 64));
  region.store(open->state, format::open_state(generation, format::open_live));
  fill_handle(file.get(), fs, {*inode, number}, open, slot, flags);
  return file;
}

Result<std::unique_ptr<File>> adopt(FileSystem& fs, LocalSeat& seat, uint64_t slot,
                                    uint64_t generation) {
  OpenFile* open = open_file_at(fs, slot);
  const uint64_t live = format::open_state(generation, format::open_live);
  if (open == nullptr || open->state.load() != live)
    return fail(EBADF, "open file %llu is gone", static_cast<unsigned long long>(slot));
  const uint32_t lane = first_lane(fs);
  hold(fs.pool, *open, lane);
  Inode* inode = inode_at(fs, open->inode.load());
  // Held from now on, if it was not ended just before.
  if (open->state.load() != live || inode == nullptr) {
    if ((open->state.load() & format::open_mask) == format::open_free) let_go(fs.pool, *open, lane);
    return fail(EBADF, "open file %llu is gone", static_cast<unsigned long long>(slot));
  }
  auto file = take_handle(fs, seat);
  fill_handle(file.get(), fs, {inode, open->inode.load()}, open, slot,
              static_cast<int>(open->flags.load()), true);
  return file;
}

void close_file(LocalSeat& seat, std::unique_ptr<File> file) {
  FileSystem& fs = *file->fs;
  const bool last_handle = unlist_file(fs, file.get());
  if (fs.pool.read_only) return;
  fold_stamp(*file);
  if (!last_handle) return;  // the other one keeps the lane's hold
  OpenFile& open = *file->shared;
  // Whoever else holds it may go on writing.
  if (open.ahead.load() != 0 && is_only_holder(open, first_lane(fs)))
    free_ahead(fs, seat, file->map(), open);
  let_go(fs.pool, open, first_lane(fs));
  const bool ended = end_description(fs, open);
  const Map map = file->map();
  if (ended) put_handle(fs, seat, std::move(file));
  if (ended && map.inode->links.load() == 0) end_if_unused(fs, seat, map.number);
}

void share_with_lane(FileSystem& fs, uint32_t lane) {
  std::lock_guard guard(fs.files_lock);
  for (File* file = fs.files; file != nullptr; file = file->next)
    hold(fs.pool, *file->shared, lane);
}

void share_with_lane(const File& file, uint32_t lane) { hold(file.fs->pool, *file.shared, lane); }

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
    // What nobody holds was being closed by somebody who died at it.
    if ((open->holder[lane / 64].load() & bit) == 0 && has_holder(*open)) continue;
    let_go(fs.pool, *open, lane);
    const uint64_t number = open->inode.load();
    if (end_description(fs, *open)) {
      const Inode* inode = inode_at(fs, number);
      ended = ended || inode == nullptr || inode->links.load() == 0;
      fs.free_open_files.push(slot);
    }
  }
  return ended;
}

bool for_each_open_file(FileSystem& fs, const std::function<bool(OpenFile&)>& visit) {
  for (uint64_t slot = 0; slot < slots(fs); ++slot) {
    OpenFile* open = open_file_at(fs, slot);
    if (open == nullptr || (open->state.load() & format::open_mask) == format::open_free) continue;
    if (!visit(*open)) return false;
  }
  return true;
}

bool is_open(FileSystem& fs, uint64_t number) {
  return !for_each_open_file(
      fs, [number](const OpenFile& open) { return open.inode.load() != number; });
}

std::string companion_path(const FileSystem& fs, const Map& map) {
  char name[64];
  std::snprintf(name, sizeof name, "/companion/%llu.%llu",
                static_cast<unsigned long long>(map.number),
                static_cast<unsigned long long>(map.inode->generation.load()));
  return fs.pool.home + name;
}

OffsetGuard::OffsetGuard(File& file, LocalSeat& seat) : file_(file) {
  if (file.fs->pool.read_only) return;
  pool::acquire(file.fs->pool, seat, file.shared->lock);
}
OffsetGuard::~OffsetGuard() {
  if (!file_.fs->pool.read_only) pool::release(file_.fs->pool, file_.shared->lock);
}

}  // namespace cairn::file
