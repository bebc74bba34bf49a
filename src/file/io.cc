#include "file/io.h"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "file/attributes.h"
#include "file/fill_ahead.h"
#include "file/run_cache.h"
#include "file/settle.h"
#include "file/shape.h"
#include "pool/space.h"

namespace cairn::file {
namespace {

using format::block_shift;
using format::block_size;

constexpr uint64_t entries_per_line = 64 / sizeof(Word);

constexpr uint64_t in_block(uint64_t offset) { return offset & (block_size - 1); }

bool is_page_medium(const FileSystem& fs) {
  return fs.pool.segment[0]->region.granularity() == persist::Granularity::page;
}

// A piece of a write: bytes for one run of file blocks.
struct Piece {
  const uint8_t* source;  // null: zeros
  uint64_t offset;        // in the file
  uint64_t size;
};

Status copy_piece(Pool& pool, BlockRef block, uint64_t at, const Piece& piece) {
  return piece.source != nullptr ? pool.copy_in(block, at, piece.source, piece.size)
                                 : pool.zero(block, at, piece.size);
}

// Overwrites mapped bytes from piece.offset on; returns how many were contiguous.
Result<uint64_t> overwrite(FileSystem& fs, const Map& map, const Spot& spot, const Piece& piece,
                           uint64_t known) {
  const uint64_t at = in_block(piece.offset);
  uint64_t n = std::min(piece.size, std::max(known, block_size - at));
  if (piece.size > n) {
    const uint64_t blocks = contiguous(fs.pool, map, piece.offset >> block_shift, spot,
                                       (at + piece.size + block_size - 1) >> block_shift);
    n = std::min(piece.size, (blocks << block_shift) - at);
  }
  if (piece.source == nullptr) {
    CAIRN_TRY(fs.pool.zero(spot.block, at, n));
  } else {
    CAIRN_TRY(fs.pool.copy_in(spot.block, at, piece.source, n));
  }
  if (!fs.pool.is_volatile)
    CAIRN_TRY(settle_path(fs.pool, map, piece.offset >> block_shift,
                          (at + n + block_size - 1) >> block_shift, spot));
  return n;
}

// Publishes one block of a run; if somebody else filled the hole first, copies into his block.
Status publish(FileSystem& fs, const Map& map, Word& slot, BlockRef block, uint64_t file_block,
               const Piece& piece) {
  Entry entry = Entry::make(Kind::block, block, map.number, file_block, 0);
  entry.value |= mark_of_new(fs.pool);
  uint64_t held = 0;
  if (fs.pool.compare_exchange(slot, held, entry.value)) [[likely]] return Status();
  const Entry winner{held};
  if (piece.offset + piece.size <= file_block << block_shift) {  // only filled ahead
    pool::give_back(fs.pool, block, 1, true);
    return Status();
  }
  if (!fs.pool.valid(winner.block()) || !winner.belongs_to(map.number, file_block, 0))
    return damaged(map, file_block);
  const uint64_t begin = file_block << block_shift;
  const uint64_t from = std::max(piece.offset, begin);
  const uint64_t to = std::min(piece.offset + piece.size, begin + block_size);
  if (piece.source != nullptr)
    CAIRN_TRY(fs.pool.copy_in(winner.block(), from - begin, piece.source + (from - piece.offset),
                              to - from));
  pool::give_back(fs.pool, block, 1);
  return Status();
}

// The run that a fill has taken becomes the whole of a 2 MiB leaf; false: others were faster.
bool publish_leaf(FileSystem& fs, Word& slot, const pool::Run& run, const Map& map,
                  uint64_t file_block) {
  uint64_t held = 0;
  Entry entry = Entry::make(Kind::leaf, run.first, map.number, file_block, 1);
  entry.value |= mark_of_new(fs.pool);
  const bool won = fs.pool.compare_exchange(slot, held, entry.value);
  if (!won) pool::give_back(fs.pool, run.first, run.count);
  return won;
}

// Fills a hole from piece.offset on with a run of new blocks; returns how many bytes that took. `file`,
// if there is one, may be filled ahead.
Result<uint64_t> fill(FileSystem& fs, LocalSeat& seat, const Map& map, File* file, Piece piece,
                      Spot spot) {
  Pool& pool = fs.pool;
  const uint64_t file_block = piece.offset >> block_shift;
  const uint64_t at = in_block(piece.offset);
  const uint64_t needed = (at + piece.size + block_size - 1) >> block_shift;
  const uint64_t wanted =
      needed + (file == nullptr ? 0 : blocks_ahead(*file, piece.offset, piece.offset + piece.size));
  const bool leaf = file_block >= format::node_entries &&
                    (file_block & (format::node_entries - 1)) == 0 && at == 0 &&
                    wanted >= format::chunk_blocks && !is_page_medium(fs) &&
                    (spot.level > 1 || (spot.level == 1 && !spot.entry));
  if (spot.level > (leaf ? 1 : 0)) [[unlikely]] {
    CAIRN_TRY(reach(pool, seat, map, file_block, leaf, pool::Need::ordinary, &spot));
    if (spot.entry) return uint64_t{0};  // others were faster: walk again
  }
  bool as_leaf = leaf && spot.level == 1;
  const uint64_t most =
      as_leaf ? format::chunk_blocks
              : std::min(hole_run(map, file_block, spot, wanted), format::chunk_blocks);
  auto run = pool::take(pool, seat, map.number, file_block, 0, static_cast<uint32_t>(most));
  if (!run.ok()) return run.status();
  const auto enough = static_cast<uint32_t>(std::min<uint64_t>(run->count, needed));
  if (as_leaf && (run->count < format::chunk_blocks || (!run->zero && needed < format::chunk_blocks))) {
    // No whole chunk is left, or it would have to be zeroed: go on block by block.
    pool::give_back(pool, run->first, run->count, run->zero);
    pool::settle(pool, seat, *run);
    CAIRN_TRY(reach(pool, seat, map, file_block, false, pool::Need::ordinary, &spot));
    if (spot.entry) return uint64_t{0};
    as_leaf = false;
    run = pool::take(pool, seat, map.number, file_block, 0,
                     static_cast<uint32_t>(hole_run(map, file_block, spot, enough)));
    if (!run.ok()) return run.status();
  } else if (!run->zero && run->count > enough && !as_leaf) {
    pool::give_back(pool, run->first.plus(enough), run->count - enough);
    run->count = enough;
  }
  // The copy is long enough for the entries' lines to arrive, and for what the next call will need.
  for (uint64_t i = 0; !as_leaf && i < run->count + entries_per_line; i += entries_per_line)
    persist::prefetch_for_store(spot.word + i);
  piece.size = std::min(piece.size, (static_cast<uint64_t>(run->count) << block_shift) - at);
  const uint64_t end = at + piece.size;
  Status status;
  if (!run->zero) {
    if (at != 0) status = pool.zero(run->first, 0, at);
    if (status.ok() && in_block(end) != 0)
      status = pool.zero(run->first, end, block_size - in_block(end));
  }
  if (status.ok() && (piece.source != nullptr || !run->zero))
    status = copy_piece(pool, run->first, at, piece);
  if (status.ok()) status = pool.fence();
  if (!status.ok()) {
    pool::give_back(pool, run->first, run->count);
    pool::settle(pool, seat, *run);
    return status;
  }
  const uint64_t entries = as_leaf ? 1 : run->count;
  if (as_leaf) {
    if (!publish_leaf(fs, *spot.word, *run, map, file_block)) piece.size = 0;
  } else {
    for (uint64_t i = 0; i < run->count; ++i) {
      if (Status s = publish(fs, map, spot.word[i], run->first.plus(i), file_block + i, piece);
          !s.ok())
        status = s;
    }
  }
  if (Status s = settle_published(pool, spot.word, entries); !s.ok()) status = s;
  pool::settle(pool, seat, *run);
  CAIRN_TRY(status);
  if (!pool.is_volatile) {  // the nodes above may be others'
    CAIRN_TRY(walk(pool, map, file_block, &spot));
    CAIRN_TRY(settle_path(pool, map, file_block, 1, spot));
  }
  if (file != nullptr && piece.size != 0)
    note_filled(*file, piece.offset, piece.offset + piece.size,
                (file_block + run->count) << block_shift, run->zero);
  return piece.size;
}

// What is about to be written beyond the end of file is noted. Looked at again after each wait: a
// truncate may have moved the end.
void note_if_extending(FileSystem& fs, LocalSeat& seat, const Map& map, uint64_t offset,
                       uint64_t end) {
  if (end <= map.inode->size.load()) return;
  const format::Seat& words = *seat.words;
  const bool noted = words.extending_inode.load_relaxed() == map.number &&
                     words.extending_from.load_relaxed() <= offset &&
                     words.extending_to.load_relaxed() >= end;
  if (!noted) note_extension(fs, seat, map.number, offset, end);
}

// Larger pieces pay for their walk anyway.
constexpr uint64_t largest_remembered = remembered_blocks * block_size / 2;

// The body of every write: copies [offset, offset + size); `*written` counts what is in place. The
// seat has announced the inode. `file`, if there is one, is whose next access may be spared the walk.
Status write_bytes(FileSystem& fs, pool::SeatGuard& seat, const Map& map, File* file,
                   const uint8_t* source, uint64_t size, uint64_t offset, uint64_t* written) {
  Inode& inode = *map.inode;
  uint64_t done = 0;
  uint64_t since_look = 0;
  if (is_changing(inode)) [[unlikely]] wait_for_shape(fs, seat, inode, map.number);
  note_if_extending(fs, *seat, map, offset, offset + size);
  while (done < size) {
    if (since_look >= piece_bytes) {
      since_look = 0;
      if (is_changing(inode)) [[unlikely]] {
        wait_for_shape(fs, seat, inode, map.number);
        note_if_extending(fs, *seat, map, offset, offset + size);
      }
    }
    const Piece piece{source == nullptr ? nullptr : source + done, offset + done,
                      std::min(size - done, piece_bytes)};
    const uint64_t shape = inode.shape.load();
    Spot spot;
    Status status = walk(fs.pool, map, piece.offset >> block_shift, &spot);
    if (!status.ok()) [[unlikely]] {
      *written = done;
      return status;
    }
    uint64_t known = 0;
    if (spot.block && file != nullptr && size <= largest_remembered) {
      remember(*seat, *file, shape, piece.offset >> block_shift, spot);
      known = recall(*seat, *file, piece.offset).size;
    }
    auto n = spot.block ? overwrite(fs, map, spot, piece, known)
                        : fill(fs, *seat, map, file, piece, spot);
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

void extend_size(FileSystem& fs, Inode& inode, uint64_t end) {
  uint64_t size = inode.size.load();
  while (size < end && !fs.pool.compare_exchange(inode.size, size, end)) {
  }
  fs.pool.flush(&inode.size, sizeof(Word));
}

// A write below an end of file that another process has set rests on that.
bool rests_on_size(const File& file, uint64_t end) {
  return end > file.durable_end.load(std::memory_order_relaxed) ||
         file.inode->shape.load() != file.durable_shape.load(std::memory_order_relaxed);
}

// What a write of bytes up to `end` does before it returns.
Status finish_write(File& file, uint64_t end) {
  Pool& pool = file.fs->pool;
  if (!pool.is_volatile) {
    const uint64_t shape = file.inode->shape.load();
    const uint64_t size = file.inode->size.load();
    const bool rests = rests_on_size(file, end);
    if (rests) pool.flush(&file.inode->size, sizeof(Word));
    CAIRN_TRY(pool.fence());
    if (rests) {
      file.durable_shape.store(shape, std::memory_order_relaxed);
      file.durable_end.store(size, std::memory_order_relaxed);
    }
  }
  touch_modified(file);
  return Status();
}

// For those who ask afterwards how much space was missing.
void note_full(FileSystem& fs, uint64_t missing) {
  fs.pool.fetch_add(fs.pool.state->full_count, 1);
  fs.pool.fetch_add(fs.pool.state->full_bytes, missing);
}

// The long way of a write.
[[gnu::noinline]] Result<size_t> write_by_map(File& file, pool::SeatGuard& seat,
                                              const uint8_t* source, uint64_t size,
                                              uint64_t offset) {
  FileSystem& fs = *file.fs;
  const Map map = file.map();
  uint64_t written = 0;
  Status status = write_bytes(fs, seat, map, &file, source, size, offset, &written);
  if (seat->words->extending_inode.load_relaxed() != 0) [[unlikely]] {
    if (written != 0) {
      // The data are fenced before the size shows them.
      if (Status s = fs.pool.fence(); !s.ok()) status = s;
      extend_size(fs, *map.inode, offset + written);
    }
    fs.pool.store(seat->words->extending_inode, 0);
  }
  if (status.code() == ENOSPC) note_full(fs, size - written);
  if (written == 0 && !status.ok()) return status;
  CAIRN_TRY(finish_write(file, offset + written));
  return static_cast<size_t>(written);
}

Result<size_t> write_in_seat(File& file, pool::SeatGuard& seat, const uint8_t* source, uint64_t size,
                             uint64_t offset) {
  const Known known = recall(*seat, file, offset);
  if (size <= known.size && offset + size <= file.inode->size.load()) [[likely]] {
    CAIRN_TRY(known.region->copy(known.at, source, size));
    CAIRN_TRY(finish_write(file, offset + size));
    return static_cast<size_t>(size);
  }
  return write_by_map(file, seat, source, size, offset);
}

Result<size_t> write_once(File& file, const uint8_t* source, uint64_t size, uint64_t offset) {
  pool::SeatGuard seat(file.fs->pool, file.number);
  if (!seat.ok()) [[unlikely]] return pool::no_seat(file.fs->pool);
  return write_in_seat(file, seat, source, size, offset);
}

bool is_lazy(const File& file) { return (file.inode->flags.load() & format::flag_lazy) != 0; }

Status without_lower(const File& file) {
  return fail(EIO, "inode %llu: its contents still lie in the covered directory, which is not joined",
              static_cast<unsigned long long>(file.number));
}

// What is to be written or mapped must be the pool's own first.
Status stage_if_lazy(const File& file) {
  if (!is_lazy(file)) [[likely]] return Status();
  if (file.fs->lower == nullptr) return without_lower(file);
  return file.fs->lower->stage(file.number, false);
}

[[gnu::noinline]] Result<size_t> read_elsewhere(File& file, void* buffer, size_t size,
                                                uint64_t offset) {
  if (file.directory)
    return fail(EISDIR, "inode %llu is a directory", static_cast<unsigned long long>(file.number));
  if (!file.readable)
    return fail(EBADF, "inode %llu: not open for reading", static_cast<unsigned long long>(file.number));
  if (file.fs->lower == nullptr) return without_lower(file);
  return file.fs->lower->read(file.number, buffer, size, offset);
}

// The long way of a read: [offset, offset + size) lies below the end of file.
[[gnu::noinline]] Status read_by_map(const File& file, LocalSeat& seat, uint8_t* to, uint64_t size,
                                     uint64_t offset) {
  Pool& pool = file.fs->pool;
  const Map map = file.map();
  const uint64_t shape = file.inode->shape.load();
  while (size != 0) {
    const uint64_t file_block = offset >> block_shift;
    const uint64_t at = in_block(offset);
    Spot spot;
    CAIRN_TRY(walk(pool, map, file_block, &spot));
    uint64_t n = 0;
    if (spot.block) {
      const uint64_t most = (at + size + block_size - 1) >> block_shift;
      uint64_t blocks = 0;
      if (most <= remembered_blocks / 2) {
        remember(seat, file, shape, file_block, spot);
        blocks = recall(seat, file, offset - at).size >> block_shift;
      }
      if (blocks == 0) blocks = contiguous(pool, map, file_block, spot, most);
      n = std::min(size, (blocks << block_shift) - at);
      CAIRN_TRY(pool.region(spot.block).read(to, (spot.block.index() << block_shift) + at, n));
    } else {
      const uint64_t cover = span_of(spot.level) << block_shift;
      n = std::min(size, cover - offset % cover);
      std::memset(to, 0, n);
    }
    to += n;
    offset += n;
    size -= n;
  }
  return Status();
}

Status check_write(const File& file, uint64_t offset, uint64_t size) {
  if (!file.writable)
    return fail(EBADF, "inode %llu: not open for writing", static_cast<unsigned long long>(file.number));
  if (offset > max_file_size || size > max_file_size - offset)
    return fail(EFBIG, "inode %llu: offset %llu is beyond the largest file",
                static_cast<unsigned long long>(file.number), static_cast<unsigned long long>(offset));
  if (file.fs->pool.read_only)
    return fail(EROFS, "pool %s is attached read-only", file.fs->pool.path.c_str());
  return Status();
}

}  // namespace

void note_extension(FileSystem& fs, LocalSeat& seat, uint64_t number, uint64_t from, uint64_t to) {
  format::Seat& words = *seat.words;
  fs.pool.store(words.extending_from, from);
  fs.pool.store(words.extending_to, to);
  fs.pool.store(words.extending_inode, number);
}

Status zero_mapped(const FileSystem& fs, const Map& map, uint64_t from, uint64_t to) {
  while (from < to) {
    Spot spot;
    CAIRN_TRY(walk(fs.pool, map, from >> block_shift, &spot));
    const uint64_t cover = span_of(spot.block ? 0 : spot.level) << block_shift;
    const uint64_t next = std::min(to, (from / cover + 1) * cover);
    if (spot.block) CAIRN_TRY(fs.pool.zero(spot.block, in_block(from), next - from));
    from = next;
  }
  return fs.pool.fence();
}

Result<size_t> read_at(File& file, void* buffer, size_t size, uint64_t offset) {
  if (!file.readable || file.directory || is_lazy(file)) [[unlikely]]
    return read_elsewhere(file, buffer, size, offset);
  pool::SeatGuard seat(file.fs->pool);
  if (!seat.ok()) [[unlikely]] return pool::no_seat(file.fs->pool);
  const uint64_t end_of_file = file.inode->size.load();
  const Known known = recall(*seat, file, offset);
  if (size - 1 < known.size && offset + size <= end_of_file) [[likely]] {  // not for size 0
    if (known.warm != nullptr) [[likely]] {
      if (size <= largest_prefetched) prefetch_sequence(*seat, known.warm, size, offset);
      persist::Region::read_warm(buffer, known.warm, size);
    } else
      CAIRN_TRY(known.region->read(buffer, known.at, size));
  } else {
    if (offset >= end_of_file) return size_t{0};
    size = static_cast<size_t>(std::min<uint64_t>(size, end_of_file - offset));
    CAIRN_TRY(read_by_map(file, *seat, static_cast<uint8_t*>(buffer), size, offset));
  }
  if (!file.was_read.load(std::memory_order_relaxed)) [[unlikely]]
    file.was_read.store(true, std::memory_order_relaxed);
  return size;
}

Result<size_t> write_at(File& file, const void* buffer, size_t size, uint64_t offset) {
  FileSystem& fs = *file.fs;
  CAIRN_TRY(check_write(file, offset, size));
  if (size == 0) return size_t{0};
  CAIRN_TRY(stage_if_lazy(file));
  const auto* source = static_cast<const uint8_t*>(buffer);
  Result<size_t> written = write_once(file, source, size, offset);
  if (written.ok() && *written == size) [[likely]] return written;
  // The pool is full: what was filled ahead comes back first.
  if (!written.ok() && written.code() != ENOSPC) return written;
  const size_t done = written.ok() ? *written : 0;
  if (!trim_all_ahead(fs)) return written;
  auto rest = write_once(file, source + done, size - done, offset + done);
  if (!rest.ok()) return done != 0 ? Result<size_t>(done) : rest;
  return done + *rest;
}

Result<size_t> append(File& file, const iovec* vector, int count, uint64_t* offset) {
  FileSystem& fs = *file.fs;
  uint64_t total = 0;
  for (int i = 0; i < count; ++i) total += vector[i].iov_len;
  CAIRN_TRY(check_write(file, 0, total));
  CAIRN_TRY(stage_if_lazy(file));
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) [[unlikely]] return pool::no_seat(fs.pool);
  if (total == 0) {
    *offset = file.inode->size.load();
    return size_t{0};
  }
  pool::LockGuard lock(fs.pool, *seat, file.inode->append_lock);
  // Announced only now: whoever changes the structure must not wait for us while we wait for the lock.
  seat.resume_writing(file.number);
  if (is_changing(*file.inode)) wait_for_shape(fs, seat, *file.inode, file.number);
  const uint64_t start = file.inode->size.load();
  *offset = start;
  CAIRN_TRY(check_write(file, start, total));
  note_extension(fs, *seat, file.number, start, start + total);
  uint64_t done = 0;
  Status status;
  for (int i = 0; i < count && status.ok(); ++i) {
    uint64_t n = 0;
    status = write_bytes(fs, seat, file.map(), nullptr,
                         static_cast<const uint8_t*>(vector[i].iov_base), vector[i].iov_len,
                         start + done, &n);
    done += n;
  }
  if (Status s = fs.pool.fence(); !s.ok()) status = s;
  if (done != 0) extend_size(fs, *file.inode, start + done);
  fs.pool.store(seat->words->extending_inode, 0);
  if (Status s = fs.pool.fence(); !s.ok()) return s;
  if (status.code() == ENOSPC) note_full(fs, total - done);
  if (done == 0 && !status.ok()) return status;
  touch_modified(file);
  return static_cast<size_t>(done);
}

Status fill_bytes(FileSystem& fs, const Map& map, const void* bytes, size_t size, uint64_t offset) {
  pool::SeatGuard seat(fs.pool, map.number);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  uint64_t written = 0;
  Status status =
      write_bytes(fs, seat, map, nullptr, static_cast<const uint8_t*>(bytes), size, offset, &written);
  fs.pool.store(seat->words->extending_inode, 0);
  CAIRN_TRY(status);
  return fs.pool.fence();
}

Status grow_size(File& file, uint64_t size) {
  pool::SeatGuard seat(file.fs->pool, file.number);
  if (!seat.ok()) return pool::no_seat(file.fs->pool);
  if (is_changing(*file.inode)) wait_for_shape(*file.fs, seat, *file.inode, file.number);
  extend_size(*file.fs, *file.inode, size);
  touch_modified(file);
  return file.fs->pool.fence();
}

Result<uint64_t> seek_data(File& file, uint64_t offset) {
  FileSystem& fs = *file.fs;
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
  return fail(ENXIO, "inode %llu: no data from there on", static_cast<unsigned long long>(file.number));
}

Result<uint64_t> seek_hole(File& file, uint64_t offset) {
  FileSystem& fs = *file.fs;
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  const uint64_t end = file.inode->size.load();
  if (offset >= end)
    return fail(ENXIO, "inode %llu: offset beyond its end", static_cast<unsigned long long>(file.number));
  if (is_lazy(file)) return end;
  while (offset < end) {
    Spot spot;
    CAIRN_TRY(walk(fs.pool, file.map(), offset >> block_shift, &spot));
    if (!spot.block) return offset;
    const uint64_t blocks = contiguous(fs.pool, file.map(), offset >> block_shift, spot,
                                       format::node_entries);
    offset = ((offset >> block_shift) + blocks) << block_shift;
  }
  return end;
}

Status allocate(File& file, uint64_t offset, uint64_t size) {
  FileSystem& fs = *file.fs;
  CAIRN_TRY(check_write(file, offset, size));
  CAIRN_TRY(stage_if_lazy(file));
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
  return fs.pool.fence();
}

}  // namespace cairn::file
