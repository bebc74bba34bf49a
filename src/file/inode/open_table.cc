#include "file/inode/open_table.h"

#include <algorithm>
#include <iterator>

#include "file/map/map_growth.h"

namespace cairn::file {
namespace {

using format::open_files_per_block;
using format::OpenFile;

uint64_t slots(const FileSystem& fs) {
  return fs.pool.state->otable_blocks.load() * open_files_per_block;
}

bool has_holder(const OpenFile& open) {
  return std::any_of(std::begin(open.holder), std::end(open.holder),
                     [](const Word& w) { return w.load() != 0; });
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

}  // namespace

OpenFile* open_file_at(const FileSystem& fs, uint64_t slot) {
  const uint64_t number = slot / open_files_per_block;
  uint8_t* block = fs.open_file_blocks.find(number);
  if (block == nullptr) [[unlikely]] {
    if (number >= fs.pool.state->otable_blocks.load()) return nullptr;
    MapCursor cursor;
    if (!walk(fs.pool, fs.otable(), number, &cursor).ok() || !cursor.block) return nullptr;
    block = fs.pool.at(cursor.block);
    fs.open_file_blocks.remember(number, block);
  }
  return reinterpret_cast<OpenFile*>(block) + slot % open_files_per_block;
}

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

void hold(Pool& pool, OpenFile& open, uint32_t lane) {
  pool.fetch_or(open.holder[lane / 64], 1ULL << (lane % 64));
}

void let_go(Pool& pool, OpenFile& open, uint32_t lane) {
  pool.fetch_and(open.holder[lane / 64], ~(1ULL << (lane % 64)));
}

bool is_only_holder(const OpenFile& open, uint32_t lane) {
  for (uint32_t w = 0; w < std::size(open.holder); ++w) {
    const uint64_t mine = w == lane / 64 ? 1ULL << (lane % 64) : 0;
    if ((open.holder[w].load() & ~mine) != 0) return false;
  }
  return true;
}

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

bool drop_lane(FileSystem& fs, uint32_t lane) {
  bool ended = false;
  const uint64_t bit = 1ULL << (lane % 64);
  for (uint64_t slot = 0; slot < slots(fs); ++slot) {
    OpenFile* open = open_file_at(fs, slot);
    if (open == nullptr) continue;
    const uint64_t state = open->state.load();
    if ((state & format::open_mask) == format::open_making &&
        format::open_maker(state) == lane + 1) {
      // The process died while it made this description. Its count in the inode may stay too high,
      // which costs a search of this table and nothing else.
      for (Word& word : open->holder) fs.pool.store(word, 0);
      fs.pool.store(open->state,
                    format::open_state(format::open_generation(state) + 1, format::open_free));
      continue;
    }
    // A description that no lane holds was being closed by a process that died.
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
  const Inode* inode = inode_at(fs, number);
  if (inode != nullptr && inode->opens.load() == 0) return false;  // never too low
  return !for_each_open_file(
      fs, [number](const OpenFile& open) { return open.inode.load() != number; });
}

}  // namespace cairn::file
