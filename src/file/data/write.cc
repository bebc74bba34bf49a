// Write: overwrites mapped bytes, fills holes, and appends.
#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "file/data/access.h"
#include "file/data/fast_path.h"
#include "file/data/fill.h"
#include "file/data/finish_write.h"
#include "file/data/io.h"
#include "file/data/run_cache.h"
#include "file/data/sync.h"
#include "file/data/write_bytes.h"
#include "file/inode/attributes.h"
#include "file/inode/shape.h"
#include "file/map/persist_entry.h"
#include "file/space/beyond_end.h"
#include "file/space/make_room.h"
#include "file/space/missing_space.h"
#include "pool/lanes/lock.h"

namespace cairn::file {
namespace {

using format::block_shift;
using format::block_size;

// Overwrites mapped bytes from piece.offset on. Returns how many were contiguous.
Result<uint64_t> overwrite(FileSystem& fs, const Map& map, const MapCursor& cursor,
                           const WritePiece& piece, uint64_t known) {
  const uint64_t at = in_block(piece.offset);
  uint64_t n = std::min(piece.size, std::max(known, block_size - at));
  if (piece.size > n) {
    const uint64_t blocks = contiguous(fs.pool, map, piece.offset >> block_shift, cursor,
                                       (at + piece.size + block_size - 1) >> block_shift);
    n = std::min(piece.size, (blocks << block_shift) - at);
  }
  CAIRN_TRY(fs.pool.copy_in(cursor.block, at, piece.source, n));
  if (!fs.pool.is_volatile)
    CAIRN_TRY(persist_marked(fs.pool, map, piece.offset >> block_shift,
                             (at + n + block_size - 1) >> block_shift, cursor));
  return n;
}

// Notes a write beyond the end of file. Called again after each wait: a truncate may have moved the
// end.
void note_if_extending(FileSystem& fs, LocalSeat& seat, const Map& map, uint64_t offset,
                       uint64_t end) {
  if (end <= map.inode->size.load()) return;
  const format::Seat& words = *seat.words;
  const bool noted = words.extending_inode.load_relaxed() == map.number &&
                     words.extending_from.load_relaxed() <= offset &&
                     words.extending_to.load_relaxed() >= end;
  if (!noted) note_extension(fs, seat, map.number, offset, end);
}

}  // namespace

Status write_bytes(FileSystem& fs, pool::SeatGuard& seat, const Map& map, File* file,
                   const uint8_t* source, uint64_t size, uint64_t offset, uint64_t* written,
                   Bytes bytes) {
  Inode& inode = *map.inode;
  uint64_t done = 0;
  uint64_t since_look = 0;
  if (is_changing(inode)) [[unlikely]]
    wait_for_shape(fs, seat, inode, map.number);
  const auto was_evicted = [&] { return bytes == Bytes::changed && is_lazy(inode); };
  if (was_evicted()) [[unlikely]]
    return became_lazy;
  note_if_extending(fs, *seat, map, offset, offset + size);
  while (done < size) {
    if (since_look >= piece_bytes) {
      since_look = 0;
      if (is_changing(inode)) [[unlikely]] {
        // The time moves now: an eviction must not take the bytes in place for drained ones.
        if (file != nullptr) touch_modified(*file);
        wait_for_shape(fs, seat, inode, map.number);
        // The file was drained and evicted during the wait; bytes beyond the end of file are lost.
        if (was_evicted()) return became_lazy;
        note_if_extending(fs, *seat, map, offset, offset + size);
      }
    }
    const WritePiece piece{source + done, offset + done, std::min(size - done, piece_bytes)};
    const uint64_t shape = inode.shape.load();
    MapCursor cursor;
    Status status = walk(fs.pool, map, piece.offset >> block_shift, &cursor);
    if (!status.ok()) [[unlikely]] {
      *written = done;
      return status;
    }
    uint64_t known = 0;
    if (cursor.block && file != nullptr && size <= largest_piece_remembered * block_size) {
      remember(*seat, *file, shape, piece.offset >> block_shift, cursor,
               (in_block(piece.offset) + piece.size + block_size - 1) >> block_shift);
      known = recall(*seat, *file, piece.offset).size;
    }
    auto n = cursor.block ? overwrite(fs, map, cursor, piece, known)
                          : fill_hole(fs, *seat, map, file, piece, cursor);
    if (!n.ok()) [[unlikely]] {
      *written = done;
      return n.status();
    }
    done += *n;
    since_look += *n;
  }
  *written = done;
  return Status();
}

namespace {

void extend_size(FileSystem& fs, Inode& inode, uint64_t end) {
  note_unsynced(fs, inode);
  uint64_t size = inode.size.load();
  while (size < end && !fs.pool.compare_exchange(inode.size, size, end)) {
  }
  fs.pool.flush(&inode.size, sizeof(Word));
}

// Returns true if a write lies below an end of file that another process has set, and so relies on
// that end.
bool rests_on_size(const File& file, uint64_t end) {
  return end > file.durable_end.load(std::memory_order_relaxed) ||
         file.inode->shape.load() != file.durable_shape.load(std::memory_order_relaxed);
}

Result<size_t> write_mapped(File& file, pool::SeatGuard& seat, const uint8_t* source, uint64_t size,
                            uint64_t offset) {
  if (!seat.ok()) return pool::no_seat(file.fs->pool);
  FileSystem& fs = *file.fs;
  const CachedRun known = recall(*seat, file, offset);
  if (size <= known.size && offset + size <= file.inode->size.load()) {
    Status status = known.region->copy(known.at, source, size);
    if (!status.ok()) [[unlikely]]
      return fail_write(file, status);
    CAIRN_TRY(finish_write(file, offset + size));
    return static_cast<size_t>(size);
  }
  const Map map = file.map();
  uint64_t written = 0;
  Status status = write_bytes(fs, seat, map, &file, source, size, offset, &written);
  if (seat->words->extending_inode.load_relaxed() != 0) [[unlikely]] {
    if (written != 0) {
      // The data are fenced before the size shows them.
      if (Status s = fs.pool.fence_bytes(); !s.ok()) status = s;
      extend_size(fs, *map.inode, offset + written);
    }
    fs.pool.store(seat->words->extending_inode, 0);
  }
  if (written == 0 && !status.ok()) return fail_write(file, status);
  CAIRN_TRY(finish_write(file, offset + written));
  return static_cast<size_t>(written);
}

// Writes the rest of a write that came short, if the pool is full and room can be made.
[[gnu::noinline]] Result<size_t> retry_after_enospc(File& file, const uint8_t* source,
                                                    uint64_t size, uint64_t offset,
                                                    Result<size_t> written) {
  FileSystem& fs = *file.fs;
  size_t done = 0;
  for (int tries = 1;; ++tries) {
    if (!written.ok() && written.code() != ENOSPC && written.status() != became_lazy) break;
    if (written.ok()) done += *written;
    if (done == size) break;
    if (is_lazy(file) || written.status() == became_lazy) {
      --tries;
      if (const Status staged = stage_if_lazy(file); !staged.ok()) {
        if (done == 0) return staged;
        break;
      }
    } else if (!try_again(fs, tries, size - done)) {
      break;
    }
    pool::SeatGuard seat(fs.pool, file.number);
    written = write_mapped(file, seat, source + done, size - done, offset + done);
  }
  if (done < size && (written.ok() || written.code() == ENOSPC)) note_missing(fs, size - done);
  return done != 0 ? Result<size_t>(done) : written;
}

}  // namespace

Result<size_t> write_in_seat(File& file, LocalSeat* handed_over, const uint8_t* source,
                             uint64_t size, uint64_t offset) {
  const Result<size_t> written = [&]() -> Result<size_t> {
    pool::SeatGuard seat(handed_over);
    CAIRN_TRY(check_write(file, offset, size));
    if (size == 0) return size_t{0};
    CAIRN_TRY(check_buffer(file, source, size));
    return write_mapped(file, seat, source, size, offset);
  }();
  if (written.ok() && *written == size) [[likely]]
    return written;
  return retry_after_enospc(file, source, size, offset, written);
}

Status fail_write(File& file, Status status) {
  touch_modified(file);
  return status;
}

Status persist_write(File& file, uint64_t end) {
  Pool& pool = file.fs->pool;
  const uint64_t shape = file.inode->shape.load();
  const uint64_t size = file.inode->size.load();
  const bool rests = rests_on_size(file, end);
  if (rests) pool.flush(&file.inode->size, sizeof(Word));
  CAIRN_TRY(file.synchronous ? pool.fence() : pool.fence_bytes());
  if (rests) {
    file.durable_shape.store(shape, std::memory_order_relaxed);
    file.durable_end.store(size, std::memory_order_relaxed);
  }
  return Status();
}

Result<size_t> write_at(File& file, const void* buffer, size_t size, uint64_t offset) {
  return write_fast(file, buffer, size, offset);
}

Result<size_t> write_slow(File& file, const void* buffer, size_t size, uint64_t offset) {
  if (is_lazy(file)) {
    CAIRN_TRY(check_write(file, offset, size));
    if (size == 0) return size_t{0};
    CAIRN_TRY(check_buffer(file, buffer, size));
    if (const auto remote = remote_of(*file.fs, file.map()))
      return remote->write(buffer, size, offset);
    CAIRN_TRY(stage_if_lazy(file));
    return write_slow(file, buffer, size, offset);
  }
  pool::SeatGuard seat(file.fs->pool, file.number);
  if (!seat.ok()) return pool::no_seat(file.fs->pool);
  return write_in_seat(file, seat.hand_over(), static_cast<const uint8_t*>(buffer), size, offset);
}

namespace {

// Makes one attempt to append. `before` bytes have already been appended at `*offset`: the rest is
// written only if no process has appended since, else none of it.
Result<size_t> append_once(File& file, const iovec* vector, int count, uint64_t total,
                           uint64_t before, uint64_t* offset) {
  FileSystem& fs = *file.fs;
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) [[unlikely]]
    return pool::no_seat(fs.pool);
  if (total == 0) {
    *offset = file.inode->size.load();
    return size_t{0};
  }
  pool::LockGuard lock(fs.pool, *seat, file.inode->append_lock);
  // The seat announces the write after the lock is taken: a process that changes the structure must
  // not wait for a process that waits for the lock.
  seat.resume_writing(fs.pool, file.number);
  if (is_changing(*file.inode)) wait_for_shape(fs, seat, *file.inode, file.number);
  // The file stays as it is from here on: evicting and staging take the append lock.
  if (is_lazy(file)) [[unlikely]]
    return became_lazy;
  const uint64_t start = file.inode->size.load();
  if (before != 0 && start != *offset + before) return size_t{0};
  *offset = start - before;
  CAIRN_TRY(check_write(file, start, total - before));
  note_extension(fs, *seat, file.number, start, start + total - before);
  uint64_t done = 0;
  Status status;
  for (int i = 0; i < count && status.ok(); ++i) {
    const uint64_t skip = std::min<uint64_t>(before, vector[i].iov_len);
    before -= skip;
    uint64_t n = 0;
    status = check_buffer(file, vector[i].iov_base, vector[i].iov_len);
    if (!status.ok()) break;
    status = write_bytes(fs, seat, file.map(), nullptr,
                         static_cast<const uint8_t*>(vector[i].iov_base) + skip,
                         vector[i].iov_len - skip, start + done, &n);
    done += n;
  }
  if (Status s = fs.pool.fence_bytes(); !s.ok()) status = s;
  if (done != 0) extend_size(fs, *file.inode, start + done);
  fs.pool.store(seat->words->extending_inode, 0);
  if (Status s = fs.pool.fence_bytes(); !s.ok()) return fail_write(file, s);
  if (done == 0 && !status.ok()) return fail_write(file, status);
  touch_modified(file);
  return static_cast<size_t>(done);
}

// Appends the rest of an append that came short at `*offset`, if the pool is full and room can be
// made.
Result<size_t> append_rest(File& file, const iovec* vector, int count, uint64_t total,
                           uint64_t done, uint64_t* offset) {
  for (int tries = 1; done < total && try_again(*file.fs, tries, total - done); ++tries) {
    const auto more = append_once(file, vector, count, total, done, offset);
    if (more.code() == ENOSPC) continue;
    if (!more.ok() || *more == 0) break;
    done += *more;
  }
  return static_cast<size_t>(done);
}

}  // namespace

Result<size_t> append(File& file, const iovec* vector, int count, uint64_t* offset) {
  uint64_t total = 0;
  for (int i = 0; i < count; ++i) total += vector[i].iov_len;
  CAIRN_TRY(check_write(file, 0, total));
  if (const auto remote = remote_of(*file.fs, file.map()))
    return remote->append(vector, count, offset);
  auto appended = unless_lazy(file, [&] {
    return with_room(
        *file.fs, [&] { return append_once(file, vector, count, total, 0, offset); }, total);
  });
  if (appended.ok() && *appended < total)
    appended = append_rest(file, vector, count, total, *appended, offset);
  if (appended.ok() ? *appended < total : appended.code() == ENOSPC)
    note_missing(*file.fs, total - (appended.ok() ? *appended : 0));
  return appended;
}

Status fill_bytes(FileSystem& fs, const Map& map, const void* bytes, size_t size, uint64_t offset) {
  pool::SeatGuard seat(fs.pool, map.number);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  uint64_t written = 0;
  Status status = write_bytes(fs, seat, map, nullptr, static_cast<const uint8_t*>(bytes), size,
                              offset, &written, Bytes::staged);
  fs.pool.store(seat->words->extending_inode, 0);
  CAIRN_TRY(status);
  return fs.pool.fence_bytes();
}

Status zero_range(File& file, uint64_t offset, uint64_t size) {
  const uint64_t end = offset + size;
  while (offset < end) {
    const uint64_t next = std::min(end, offset + piece_bytes);
    CAIRN_TRY(unless_lazy(file, [&]() -> Status {
      pool::SeatGuard seat(file.fs->pool, file.number);
      if (!seat.ok()) return pool::no_seat(file.fs->pool);
      if (is_changing(*file.inode)) wait_for_shape(*file.fs, seat, *file.inode, file.number);
      if (is_lazy(file)) return became_lazy;
      const Status status = zero_mapped(*file.fs, file.map(), offset, next);
      touch_modified(file);
      return status;
    }));
    offset = next;
  }
  return Status();
}

namespace {

Status grow_once(File& file, uint64_t size) {
  pool::SeatGuard seat(file.fs->pool, file.number);
  if (!seat.ok()) return pool::no_seat(file.fs->pool);
  if (is_changing(*file.inode)) wait_for_shape(*file.fs, seat, *file.inode, file.number);
  if (is_lazy(file)) return became_lazy;
  extend_size(*file.fs, *file.inode, size);
  touch_modified(file);
  return file.fs->pool.fence_bytes();
}

}  // namespace

Status grow_size(File& file, uint64_t size) {
  return unless_lazy(file, [&] { return grow_once(file, size); });
}

}  // namespace cairn::file
