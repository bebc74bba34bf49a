// Where a file has data and where holes, and filling holes for later (fallocate, mmap).
#include <unistd.h>

#include <algorithm>

#include "file/access.h"
#include "file/fill.h"
#include "file/fill_ahead.h"
#include "file/io.h"
#include "file/settle.h"
#include "file/shape.h"

namespace cairn::file {

using format::block_shift;
using format::block_size;

namespace {

// What lower says, as long as the file is lazy. False: it is not, and the pool knows.
bool asked_lower(const File& file, uint64_t offset, int whence, Result<uint64_t>* found) {
  while (is_lazy(file) && file.fs->lower != nullptr) {
    *found = file.fs->lower->seek(file.number, offset, whence);
    if (found->ok() || is_lazy(file)) return true;
  }
  return false;
}

}  // namespace

Result<uint64_t> seek_data(File& file, uint64_t offset) {
  FileSystem& fs = *file.fs;
  Result<uint64_t> in_lower = offset;
  if (asked_lower(file, offset, SEEK_DATA, &in_lower)) return in_lower;
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  const uint64_t end = file.inode->size.load();
  if (is_lazy(file) && offset < end) return offset;
  while (offset < end) {
    Spot spot;
    CAIRN_TRY(walk(fs.pool, file.map(), offset >> block_shift, &spot));
    if (spot.block) return offset;
    const uint64_t cover = span_of(spot.level) << block_shift;
    offset = (offset / cover + 1) * cover;
  }
  return fail(ENXIO, "inode %llu: no data from there on",
              static_cast<unsigned long long>(file.number));
}

Result<uint64_t> seek_hole(File& file, uint64_t offset) {
  FileSystem& fs = *file.fs;
  Result<uint64_t> in_lower = offset;
  if (asked_lower(file, offset, SEEK_HOLE, &in_lower)) return in_lower;
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  const uint64_t end = file.inode->size.load();
  if (offset >= end)
    return fail(ENXIO, "inode %llu: offset beyond its end",
                static_cast<unsigned long long>(file.number));
  if (is_lazy(file)) return end;
  while (offset < end) {
    Spot spot;
    CAIRN_TRY(walk(fs.pool, file.map(), offset >> block_shift, &spot));
    if (!spot.block) return offset;
    const uint64_t blocks =
        contiguous(fs.pool, file.map(), offset >> block_shift, spot, format::node_entries);
    offset = ((offset >> block_shift) + blocks) << block_shift;
  }
  return end;
}

namespace {

Status allocate_once(File& file, uint64_t offset, uint64_t size) {
  FileSystem& fs = *file.fs;
  pool::SeatGuard seat(fs.pool, file.number);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  const Map map = file.map();
  if (is_changing(*map.inode)) wait_for_shape(fs, seat, *map.inode, map.number);
  uint64_t block = offset >> block_shift;
  const uint64_t last = (offset + size + block_size - 1) >> block_shift;
  uint64_t since_look = 0;
  while (block < last) {
    if (since_look >= piece_bytes >> block_shift) {
      since_look = 0;
      if (is_changing(*map.inode)) wait_for_shape(fs, seat, *map.inode, map.number);
    }
    Spot spot;
    CAIRN_TRY(walk(fs.pool, map, block, &spot));
    uint64_t n = 0;
    if (spot.block) {
      n = contiguous(fs.pool, map, block, spot, last - block);
      // Stores through a mapping are acknowledged by an fsync that does not look at entries.
      CAIRN_TRY(settle_path(fs.pool, map, block, n, spot));
    } else {
      const Piece zeros{nullptr, block << block_shift,
                        std::min((last - block) << block_shift, piece_bytes)};
      auto filled = fill(fs, *seat, map, nullptr, zeros, spot);
      if (!filled.ok()) return filled.status();
      n = *filled >> block_shift;
    }
    block += n;
    since_look += n;
  }
  // Some may have been there because a writer had filled ahead: he keeps them.
  keep_ahead(fs, file.number);
  return Status();
}

}  // namespace

Status allocate(File& file, uint64_t offset, uint64_t size) {
  CAIRN_TRY(check_write(file, offset, size));
  CAIRN_TRY(stage_if_lazy(file));
  return with_room(*file.fs, [&] { return allocate_once(file, offset, size); });
}

}  // namespace cairn::file
