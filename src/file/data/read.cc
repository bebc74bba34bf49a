// Read: by the remembered run, or by the map.
#include <algorithm>
#include <cstring>

#include "file/data/access.h"
#include "file/data/fast_path.h"
#include "file/data/fill.h"
#include "file/data/io.h"
#include "file/data/run_cache.h"
#include "file/inode/attributes.h"
#include "file/inode/shape.h"

namespace cairn::file {
namespace {

using format::block_shift;
using format::block_size;

// Reads [offset, offset + size), which lies below the end of file, through the map. `*done` counts
// the bytes read, also if the file turns out to be lazy.
Status read_mapped(const File& file, LocalSeat& seat, uint8_t* to, uint64_t size, uint64_t offset,
                   uint64_t* done) {
  Pool& pool = file.fs->pool;
  const Map map = file.map();
  FirstLook look(*file.inode);
  while (size != 0) {
    if (look.was_lazy()) [[unlikely]]
      return became_lazy;
    const uint64_t file_block = offset >> block_shift;
    const uint64_t at = in_block(offset);
    MapCursor cursor;
    CAIRN_TRY(walk(pool, map, file_block, &cursor));
    uint64_t n = 0;
    if (cursor.block) {
      const uint64_t most = (at + size + block_size - 1) >> block_shift;
      uint64_t blocks = 0;
      if (most <= largest_piece_remembered) {
        remember(seat, file, look.shape(), file_block, cursor, most);
        blocks = recall(seat, file, offset - at).size >> block_shift;
      }
      if (blocks == 0) blocks = contiguous(pool, map, file_block, cursor, most);
      n = std::min(size, (blocks << block_shift) - at);
    } else {
      const uint64_t cover = span_of(cursor.level) << block_shift;
      n = std::min(size, cover - offset % cover);
    }
    if (!look.still_holds()) [[unlikely]] {
      look = FirstLook(*file.inode);
      continue;
    }
    if (cursor.block)
      CAIRN_TRY(pool.region(cursor.block).read(to, (cursor.block.index() << block_shift) + at, n));
    else
      std::memset(to, 0, n);
    to += n;
    offset += n;
    size -= n;
    *done += n;
  }
  return Status();
}

}  // namespace

Result<size_t> read_slow(File& file, void* buffer, size_t size, uint64_t offset) {
  if (file.directory)
    return fail(EISDIR, "inode %llu is a directory", static_cast<unsigned long long>(file.number));
  if (!file.readable)
    return fail(EBADF, "inode %llu: not open for reading",
                static_cast<unsigned long long>(file.number));
  if (is_lazy(file)) {
    if (file.fs->lower == nullptr) return without_lower(file);
    CAIRN_TRY(check_buffer(file, buffer, size));
    return file.fs->lower->read(file.number, buffer, size, offset);
  }
  pool::SeatGuard seat(file.fs->pool);
  if (!seat.ok()) return pool::no_seat(file.fs->pool);
  return read_in_seat(file, seat.hand_over(), buffer, size, offset);
}

namespace {

// Reads the rest after the file was evicted in the middle of a read; `done` bytes are there. The
// caller is in no seat.
[[gnu::noinline]] Result<size_t> read_rest(const File& file, uint8_t* to, size_t size,
                                           uint64_t offset, uint64_t done) {
  if (file.fs->lower == nullptr) return without_lower(file);
  while (done < size) {
    const auto n = file.fs->lower->read(file.number, to + done, size - done, offset + done);
    if (!n.ok() && done == 0) return n;
    if (!n.ok() || *n == 0) break;
    done += *n;
  }
  return static_cast<size_t>(done);
}

}  // namespace

Result<size_t> read_in_seat(File& file, LocalSeat* handed_over, void* buffer, size_t size,
                            uint64_t offset) {
  uint64_t done = 0;
  Status status;
  {
    const pool::SeatGuard seat(handed_over);
    const uint64_t end_of_file = file.inode->size.load();
    if (size == 0 || offset >= end_of_file) return size_t{0};
    CAIRN_TRY(check_buffer(file, buffer, size));
    size = static_cast<size_t>(std::min<uint64_t>(size, end_of_file - offset));
    const CachedRun known = recall(*seat, file, offset);
    status = size <= known.size
                 ? known.region->read(buffer, known.at, size)
                 : read_mapped(file, *seat, static_cast<uint8_t*>(buffer), size, offset, &done);
  }
  if (!file.was_read.load(std::memory_order_relaxed))
    file.was_read.store(true, std::memory_order_relaxed);
  if (status == became_lazy) [[unlikely]]
    return read_rest(file, static_cast<uint8_t*>(buffer), size, offset, done);
  CAIRN_TRY(status);
  return size;
}

Result<size_t> read_at(File& file, void* buffer, size_t size, uint64_t offset) {
  return read_fast(file, buffer, size, offset);
}

}  // namespace cairn::file
