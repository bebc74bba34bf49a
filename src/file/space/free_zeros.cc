#include "file/space/free_zeros.h"

#include <sys/stat.h>

#include <algorithm>

#include "file/inode/pins.h"
#include "file/inode/reclaim.h"
#include "file/inode/shape.h"
#include "file/space/cut.h"

namespace cairn::file {

namespace {

using format::block_size;

bool is_zero_block(const FileSystem& fs, const Map& map, uint64_t file_block) {
  MapCursor cursor;
  if (!walk(fs.pool, map, file_block, &cursor).ok()) return false;
  if (!cursor.block) return true;
  const Word* word = node_at(fs.pool, cursor.block);
  return std::all_of(word, word + block_size / sizeof(Word),
                     [](const Word& w) { return w.load_relaxed() == 0; });
}

}  // namespace

bool free_ahead(FileSystem& fs, LocalSeat& seat, const Map& map, format::OpenFile& open) {
  // Usually all blocks have been written: that check takes no lock.
  const auto end_of = [](uint64_t note) {
    return format::ahead_from(note) + format::ahead_blocks(note);
  };
  if (const uint64_t note = open.ahead.load();
      note == 0 || !is_zero_block(fs, map, end_of(note) - 1))
    return false;
  {
    pool::LockGuard lock(fs.pool, seat, map.inode->lock);
    if (!S_ISREG(map.inode->mode.load()) || is_lazy(*map.inode)) return false;
    ShapeChange change(fs, seat, *map.inode, map.number);
    // Stores through mappings are not announced.
    if (map.inode->links.load() == 0 || is_pinned(fs, map.number)) return false;
    // The note is taken only now, when no fallocate that would rely on these blocks is under way.
    const uint64_t note = fs.pool.exchange(open.ahead, 0);
    if (open.inode.load() != map.number) return false;  // the slot is another file's now
    // The blocks were kept.
    if (map.inode->file.preallocations.load() != open.ahead_since.load()) return false;
    const uint64_t from = format::ahead_from(note);
    const uint64_t to = end_of(note);
    uint64_t first = to;
    while (first > from && is_zero_block(fs, map, first - 1)) --first;
    if (!anything_in(fs, map, {first, to})) return false;
    pool::RedoChange record(fs.pool, seat);
    if (!cut_range(fs, seat, map, {first, to}, record).ok()) return false;
  }
  reclaim_some(fs, seat);
  return true;
}

void free_zeros(FileSystem& fs, const Map& map, uint64_t from, uint64_t to, uint64_t succeeded) {
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return;
  {
    pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
    ShapeChange change(fs, *seat, *map.inode, map.number);
    if (is_lazy(*map.inode) || is_pinned(fs, map.number) ||
        map.inode->file.preallocations.load() != succeeded)
      return;
    for (uint64_t first = from; first < to; ++first) {
      uint64_t end = first;
      while (end < to && is_zero_block(fs, map, end)) ++end;
      if (end == first) continue;
      if (anything_in(fs, map, {first, end})) {
        pool::RedoChange record(fs.pool, *seat);
        cut_range(fs, *seat, map, {first, end}, record).ignore();  // the blocks stay allocated
      }
      first = end;
    }
  }
  reclaim_some(fs, *seat);
}

}  // namespace cairn::file
