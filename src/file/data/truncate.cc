#include "file/data/truncate.h"

#include "file/data/access.h"
#include "file/data/sync.h"
#include "file/inode/pins.h"
#include "file/inode/reclaim.h"
#include "file/inode/shape.h"
#include "file/space/beyond_end.h"
#include "file/space/cut.h"
#include "file/space/make_room.h"

namespace cairn::file {

namespace {

using format::block_shift;
using format::block_size;

void set_modified(pool::RedoChange& change, const Map& map) {
  const uint64_t now = now_ns();
  change.set(map.inode->mtime, now);
  change.set(map.inode->ctime, now);
}

Status truncate_once(FileSystem& fs, const Map& map, uint64_t size, uint64_t generation) {
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  {
    pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
    CAIRN_TRY(check_generation(map, generation));
    if (fs.lower != nullptr && is_lazy(*map.inode)) return became_lazy;
    ShapeChange change(fs, *seat, *map.inode, map.number);
    const FileBlocks cut = {(size + block_size - 1) >> block_shift, max_file_blocks};
    const bool keep = anything_in(fs, map, cut) && is_pinned(fs, map.number);
    // Bytes beyond the new end must read as zeros if the file grows again. They are zeroed after
    // the end has moved, because a killed truncate has happened or has not. The note makes recovery
    // zero them.
    const uint64_t zero_to = keep ? max_file_size : cut.from << block_shift;
    const bool leaves_bytes = size < zero_to && size < map.inode->size.load();
    if (leaves_bytes) note_extension(fs, *seat, map.number, size, zero_to);
    pool::RedoChange record(fs.pool, *seat);
    if (keep) record.set(map.inode->flags, map.inode->flags.load() | format::flag_kept);
    record.set(map.inode->size, size);
    // Bytes that grow again and are not synced must not survive by the earlier size.
    const Word& synced = map.inode->file.synced_size;
    if (size < synced.load()) record.set(map.inode->file.synced_size, size);
    if (size > synced.load()) note_unsynced(fs, *map.inode);
    set_modified(record, map);
    Status status = keep ? record.commit() : cut_range(fs, *seat, map, cut, record);
    if (leaves_bytes) {
      if (status.ok()) status = zero_mapped(fs, map, size, zero_to);
      fs.pool.store(seat->words->extending_inode, 0);
    }
    CAIRN_TRY(status);
  }
  reclaim_some(fs, *seat);
  return Status();
}

// The part to be cut: of the file, or only the staged part of a lazy file. The latter changes no
// time.
enum class Punched : uint8_t { file, staged };

Status punch_once(FileSystem& fs, const Map& map, uint64_t offset, uint64_t size,
                  uint64_t generation, Punched what) {
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  {
    pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
    CAIRN_TRY(check_generation(map, generation));
    if (what == Punched::file && fs.lower != nullptr && is_lazy(*map.inode)) return became_lazy;
    ShapeChange change(fs, *seat, *map.inode, map.number);
    const uint64_t end = offset + size;
    const uint64_t first = (offset + block_size - 1) >> block_shift;
    const uint64_t last = end >> block_shift;
    // A process that has the file mapped sees the hole immediately, and all processes see its later
    // stores: the blocks stay, zeroed.
    const bool keep = is_pinned(fs, map.number);
    // The cut comes first: in a full pool it fails, and must have changed nothing then.
    pool::RedoChange record(fs.pool, *seat);
    if (what == Punched::file) set_modified(record, map);
    CAIRN_TRY(cut_range(fs, *seat, map, {first, keep ? first : last}, record));
    if (keep || first > last) {  // or inside one block
      CAIRN_TRY(zero_mapped(fs, map, offset, end));
    } else {
      CAIRN_TRY(zero_mapped(fs, map, offset, first << block_shift));
      CAIRN_TRY(zero_mapped(fs, map, last << block_shift, end));
    }
  }
  reclaim_some(fs, *seat);
  return Status();
}

}  // namespace

Status truncate(FileSystem& fs, const Map& map, uint64_t size, uint64_t generation) {
  if (size > max_file_size)
    return fail(EFBIG, "inode %llu: size %llu is beyond the largest file",
                static_cast<unsigned long long>(map.number), static_cast<unsigned long long>(size));
  CAIRN_TRY(check_generation(map, generation));
  if (const auto remote = remote_of(fs, map)) return remote->set_size(size);
  for (;;) {
    if (fs.lower != nullptr && is_lazy(*map.inode))
      CAIRN_TRY(size == 0 ? fs.lower->discard(map.number, generation)
                          : fs.lower->stage(map.number));
    const Status status = with_room(fs, [&] { return truncate_once(fs, map, size, generation); });
    if (status != became_lazy) return status;
  }
}

void trim(FileSystem& fs, const Map& map) {
  const auto is_due = [&] {
    return (map.inode->flags.load() & format::flag_kept) != 0 && is_live(*map.inode) &&
           !is_pinned(fs, map.number);
  };
  if (!is_due()) return;
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return;
  {
    pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
    ShapeChange change(fs, *seat, *map.inode, map.number);
    if (!is_due()) return;
    const uint64_t end = (map.inode->size.load() + block_size - 1) >> block_shift;
    pool::RedoChange record(fs.pool, *seat);
    record.set(map.inode->flags, map.inode->flags.load() & ~format::flag_kept);
    cut_range(fs, *seat, map, {end, max_file_blocks}, record).ignore();  // the next one tries again
  }
  reclaim_some(fs, *seat);
}

Status punch(FileSystem& fs, const Map& map, uint64_t offset, uint64_t size, uint64_t generation) {
  if (size == 0 || offset > max_file_size || size > max_file_size - offset)
    return fail(EINVAL, "inode %llu: no such range", static_cast<unsigned long long>(map.number));
  for (;;) {
    if (fs.lower != nullptr && is_lazy(*map.inode)) CAIRN_TRY(fs.lower->stage(map.number));
    const Status status =
        with_room(fs, [&] { return punch_once(fs, map, offset, size, generation, Punched::file); });
    if (status != became_lazy) return status;
  }
}

Status drop_staged(FileSystem& fs, const Map& map, uint64_t generation) {
  const uint64_t size = (map.inode->size.load() + block_size - 1) & ~(block_size - 1);
  if (size == 0) return Status();
  return with_room(fs, [&] { return punch_once(fs, map, 0, size, generation, Punched::staged); });
}

}  // namespace cairn::file
