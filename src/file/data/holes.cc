// Holes: finds a file's data and holes, and fills holes ahead of use (fallocate, mmap).
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "file/data/access.h"
#include "file/data/fill.h"
#include "file/data/io.h"
#include "file/inode/attributes.h"
#include "file/inode/reclaim.h"
#include "file/inode/shape.h"
#include "file/map/persist_entry.h"
#include "file/space/cut.h"
#include "file/space/fill_ahead.h"
#include "file/space/free_zeros.h"
#include "file/space/make_room.h"
#include "file/space/missing_space.h"
#include "pool/space/lost_bits.h"
#include "pool/space/space.h"

namespace cairn::file {

using format::block_shift;
using format::block_size;

namespace {

// Asks lower, while the file is lazy. Returns false if the file is not lazy: the pool knows.
bool asked_lower(const File& file, uint64_t offset, int whence, Result<uint64_t>* found) {
  while (is_lazy(file) && file.fs->lower != nullptr) {
    *found = file.fs->lower->seek(file.number, offset, whence);
    if (found->ok() || is_lazy(file)) return true;
  }
  return false;
}

}  // namespace

namespace {

constexpr uint64_t unknown = UINT64_MAX;

// These two search the map. They return `unknown` if the file was evicted, or its structure has
// changed, since `look`.
Result<uint64_t> find_data(const File& file, uint64_t offset, uint64_t end, const FirstLook& look) {
  while (offset < end) {
    MapCursor cursor;
    CAIRN_TRY(walk(file.fs->pool, file.map(), offset >> block_shift, &cursor));
    if (!look.still_holds()) return unknown;
    if (cursor.block) return offset;
    const uint64_t cover = span_of(cursor.level) << block_shift;
    offset = (offset / cover + 1) * cover;
  }
  return fail(ENXIO, "inode %llu: no data from this offset on",
              static_cast<unsigned long long>(file.number));
}

Result<uint64_t> find_hole(const File& file, uint64_t offset, uint64_t end, const FirstLook& look) {
  Pool& pool = file.fs->pool;
  while (offset < end) {
    MapCursor cursor;
    CAIRN_TRY(walk(pool, file.map(), offset >> block_shift, &cursor));
    const uint64_t blocks = cursor.block ? contiguous(pool, file.map(), offset >> block_shift,
                                                      cursor, format::node_entries)
                                         : 0;
    if (!look.still_holds()) return unknown;
    if (blocks == 0) return offset;
    offset = ((offset >> block_shift) + blocks) << block_shift;
  }
  return end;
}

// Makes one attempt. A file that is lazy here, and cannot be asked about (asked_lower), is data up
// to its end.
Result<uint64_t> seek_here(const File& file, uint64_t offset, int whence) {
  pool::SeatGuard seat(file.fs->pool);
  if (!seat.ok()) return pool::no_seat(file.fs->pool);
  const FirstLook look(*file.inode);
  const uint64_t end = file.inode->size.load();
  if (offset >= end)
    return fail(ENXIO, "inode %llu: offset beyond its end",
                static_cast<unsigned long long>(file.number));
  if (look.was_lazy() && file.fs->lower != nullptr) return unknown;
  if (look.was_lazy()) return whence == SEEK_DATA ? offset : end;
  return whence == SEEK_DATA ? find_data(file, offset, end, look)
                             : find_hole(file, offset, end, look);
}

Result<uint64_t> seek(const File& file, uint64_t offset, int whence) {
  for (;;) {
    Result<uint64_t> found = offset;
    if (asked_lower(file, offset, whence, &found)) return found;
    found = seek_here(file, offset, whence);
    if (!found.ok() || *found != unknown) return found;
  }
}

}  // namespace

Result<uint64_t> seek_data(File& file, uint64_t offset) { return seek(file, offset, SEEK_DATA); }

Result<uint64_t> seek_hole(File& file, uint64_t offset) { return seek(file, offset, SEEK_HOLE); }

namespace {

uint64_t holes_in(const FileSystem& fs, const Map& map, FileBlocks blocks, Status* status) {
  uint64_t holes = 0;
  for (uint64_t b = blocks.from; b < blocks.to;) {
    MapCursor cursor;
    *status = walk(fs.pool, map, b, &cursor);
    if (!status->ok()) break;
    if (cursor.block) {
      b += contiguous(fs.pool, map, b, cursor, blocks.to - b);
      continue;
    }
    const uint64_t cover = span_of(cursor.level);
    const uint64_t next = std::min(blocks.to, (b / cover + 1) * cover);
    holes += next - b;
    b = next;
  }
  return holes;
}

// Refuses what cannot fit before any block is taken. Only large requests are counted first: a look
// into every chunk takes less time than taking as many blocks.
Status check_space(FileSystem& fs, LocalSeat& seat, const Map& map, FileBlocks blocks) {
  Pool& pool = fs.pool;
  uint64_t chunks = 0;
  for (uint32_t s = 0; s < pool.segments.load(); ++s) chunks += pool.segment[s]->chunks;
  if (blocks.to - blocks.from < chunks) return Status();
  Status status;
  const uint64_t wanted = holes_in(fs, map, blocks, &status);
  CAIRN_TRY(status);
  const auto fit = [&] {
    const pool::Usage now = pool::usage(pool);
    return now.free >= now.reserve && now.free - now.reserve >= wanted;
  };
  if (fit()) return Status();
  reclaim_withheld_inside(fs, seat);
  CAIRN_TRY(pool.see_growth());
  if (fit() || (pool::repair_free_bits(pool) && fit())) return Status();
  return fail(ENOSPC, "pool %s has no room for %llu MiB more", pool.path.c_str(),
              static_cast<unsigned long long>(wanted >> (20 - block_shift)));
}

// The blocks that a preallocation took, and the number of preallocations that had succeeded in this
// file before it: one that succeeds meanwhile was promised blocks that it found there.
struct TakenBlocks {
  std::vector<FileBlocks> blocks;
  uint64_t before = 0;
};

// The purpose of a preallocation: a change of the file, or a mapping's needs.
enum class FillPurpose : uint8_t { change, mapping };

// Fills the range; `*taken` receives the blocks taken, also before a failure.
Status fill_range(File& file, uint64_t offset, uint64_t size, FillPurpose purpose,
                  TakenBlocks* taken) {
  FileSystem& fs = *file.fs;
  pool::SeatGuard seat(fs.pool, file.number);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  const Map map = file.map();
  if (is_changing(*map.inode)) wait_for_shape(fs, seat, *map.inode, map.number);
  if (is_lazy(file)) return became_lazy;
  Word& succeeded = map.inode->file.preallocations;
  taken->before = succeeded.load();
  const uint64_t first = offset >> block_shift;
  const uint64_t last = (offset + size + block_size - 1) >> block_shift;
  CAIRN_TRY(check_space(fs, *seat, map, {first, last}));
  uint64_t since_look = 0;
  for (uint64_t block = first; block < last;) {
    if (since_look >= piece_bytes >> block_shift) {
      since_look = 0;
      if (is_changing(*map.inode)) {
        wait_for_shape(fs, seat, *map.inode, map.number);
        if (is_lazy(file)) return became_lazy;
        block = first;  // what was passed may have been given back by another one that failed
        continue;
      }
    }
    MapCursor cursor;
    CAIRN_TRY(walk(fs.pool, map, block, &cursor));
    uint64_t n = 0;
    if (cursor.block) {
      n = contiguous(fs.pool, map, block, cursor, last - block);
      // An fsync that does not look at entries acknowledges stores through a mapping.
      CAIRN_TRY(persist_marked(fs.pool, map, block, n, cursor));
    } else {
      const WritePiece zeros{nullptr, block << block_shift,
                             std::min((last - block) << block_shift, piece_bytes)};
      auto filled = fill_hole(fs, *seat, map, nullptr, zeros, cursor);
      if (!filled.ok()) return filled.status();
      n = *filled >> block_shift;
      if (!taken->blocks.empty() && taken->blocks.back().to == block)
        taken->blocks.back().to += n;
      else
        taken->blocks.push_back({block, block + n});
    }
    block += n;
    since_look += n;
  }
  // The count is raised before the seat is left: free_zeros and free_ahead wait for that. Some
  // blocks may be those that a writer had filled ahead; they stay now.
  fs.pool.fetch_add(succeeded, 1);
  if (purpose == FillPurpose::change) touch_modified(file);  // or an eviction would free them
  return Status();
}

Status allocate_once(File& file, uint64_t offset, uint64_t size, FillPurpose purpose) {
  TakenBlocks taken;
  const Status status = fill_range(file, offset, size, purpose, &taken);
  if (!status.ok())
    for (const FileBlocks& blocks : taken.blocks)
      free_zeros(*file.fs, file.map(), blocks.from, blocks.to, taken.before);
  return status;
}

Status allocate_for(File& file, uint64_t offset, uint64_t size, FillPurpose purpose) {
  CAIRN_TRY(file.fs->pool.check_writable());
  const Status status = unless_lazy(file, [&] {
    return with_room(
        *file.fs, [&] { return allocate_once(file, offset, size, purpose); }, size);
  });
  if (status.code() == ENOSPC) note_no_room(*file.fs, size);
  return status;
}

}  // namespace

Status allocate(File& file, uint64_t offset, uint64_t size) {
  CAIRN_TRY(check_write(file, offset, size));
  return allocate_for(file, offset, size, FillPurpose::change);
}

Status allocate_for_mapping(File& file, uint64_t offset, uint64_t size) {
  return allocate_for(file, offset, size, FillPurpose::mapping);
}

}  // namespace cairn::file
