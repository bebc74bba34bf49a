#include "file/data/pieces.h"

#include <algorithm>

#include "file/data/access.h"
#include "file/data/finish_write.h"
#include "file/data/io.h"
#include "file/data/run_cache.h"
#include "pool/lanes/seats.h"

namespace cairn::file {
namespace {

// The number of bytes after which a process leaves its seat, because a process that changes the
// structure waits for all seats.
constexpr uint64_t most_in_seat = uint64_t{1} << 20;

// Prefetches for the next piece while this one is copied: the caller knows where the neighbours
// lie, but the processor sees no sequence. Returns the address from which the copy is to prefetch
// as it goes, as many bytes as it copies. If that would be too much, or the copy does not prefetch,
// the lines are requested here.
constexpr size_t most_ahead = 4096;
inline const uint8_t* fetch_ahead(const LocalSeat& seat, const File& file, const BufferPiece& piece,
                                  const BufferPiece& next) {
  const CachedRun known = recall(seat, file, next.offset);
  if (known.warm == nullptr) return nullptr;
  const uint64_t size = std::min<uint64_t>(known.size, next.size);
  if (persist::copies_fetching && piece.size >= persist::fetching_copy_min &&
      piece.size < persist::fetching_copy_always && piece.size <= size)
    return known.warm;
  for (uint64_t at = 0; at < std::min<uint64_t>(size, most_ahead); at += 64)
    __builtin_prefetch(known.warm + at);
  return nullptr;
}

// Reads what needs no walk, up to `*at`. Returns the number of bytes.
uint64_t read_known(File& file, const BufferPiece* pieces, size_t count, size_t* at) {
  if (!file.readable || file.directory || is_lazy(file)) return 0;
  const pool::SeatGuard seat(file.fs->pool);
  if (!seat.ok()) return 0;
  uint64_t done = 0;
  for (; *at < count && done < most_in_seat; ++*at) {
    const BufferPiece& piece = pieces[*at];
    const uint64_t end_of_file = file.inode->size.load();
    const CachedRun known = recall(*seat, file, piece.offset);
    if (piece.size > known.size || piece.offset + piece.size > end_of_file || known.warm == nullptr)
      break;
    const uint8_t* next =
        *at + 1 < count ? fetch_ahead(*seat, file, piece, pieces[*at + 1]) : nullptr;
    persist::Region::read_warm(piece.buffer, known.warm, piece.size, next);
    done += piece.size;
  }
  if (done != 0 && !file.was_read.load(std::memory_order_relaxed)) [[unlikely]]
    file.was_read.store(true, std::memory_order_relaxed);
  return done;
}

// Writes what needs no walk, up to `*at`; `*done` grows by the bytes.
Status write_known(File& file, const BufferPiece* pieces, size_t count, size_t* at,
                   uint64_t* done) {
  if (is_lazy(file)) return Status();
  const pool::SeatGuard seat(file.fs->pool, file.number);
  if (!seat.ok()) return Status();
  uint64_t written = 0;
  uint64_t end = 0;
  Status status;
  for (; *at < count && written < most_in_seat; ++*at) {
    const BufferPiece& piece = pieces[*at];
    const CachedRun known = recall(*seat, file, piece.offset);
    if (piece.size - 1 >= known.size || piece.offset + piece.size > file.inode->size.load() ||
        !check_write(file, piece.offset, piece.size).ok())
      break;
    status = known.region->copy(known.at, piece.buffer, piece.size);
    if (!status.ok()) break;
    written += piece.size;
    end = std::max(end, piece.offset + piece.size);
  }
  *done += written;
  if (written != 0) return finish_write(file, end);
  return status.ok() ? status : fail_write(file, status);
}

}  // namespace

Result<uint64_t> read_pieces(File& file, const BufferPiece* pieces, size_t count) {
  uint64_t done = 0;
  for (size_t at = 0; at < count;) {
    done += read_known(file, pieces, count, &at);
    if (at == count) break;
    const BufferPiece& piece = pieces[at++];
    auto n = read_at(file, piece.buffer, piece.size, piece.offset);
    if (!n.ok()) {
      if (done == 0) return n.status();
      break;
    }
    done += *n;
    if (*n < piece.size) break;
  }
  return done;
}

Result<uint64_t> write_pieces(File& file, const BufferPiece* pieces, size_t count) {
  uint64_t done = 0;
  for (size_t at = 0; at < count;) {
    CAIRN_TRY(write_known(file, pieces, count, &at, &done));
    if (at == count) break;
    const BufferPiece& piece = pieces[at++];
    auto n = write_at(file, piece.buffer, piece.size, piece.offset);
    if (!n.ok()) {
      if (done == 0) return n.status();
      break;
    }
    done += *n;
    if (*n < piece.size) break;
  }
  return done;
}

}  // namespace cairn::file
