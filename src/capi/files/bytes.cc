// C API: reading, writing, seeking.
#include <fcntl.h>
#include <unistd.h>

#include <climits>

#include "capi/core/handles.h"
#include "file/data/access.h"
#include "file/data/fast_path.h"
#include "file/data/io.h"
#include "file/data/sync.h"
#include "pool/lanes/seats.h"

namespace cairn::capi {
namespace {

bool appends(const file::File& file) { return (flags_of(file) & O_APPEND) != 0; }

// Returns an iovec for a write. The type has no form for bytes that are only read.
iovec piece_of(const void* buffer, size_t size) {
  return {const_cast<void*>(buffer), size};  // not pool memory: the caller's own bytes
}

uint64_t total_of(const iovec* vector, int count) {
  uint64_t total = 0;
  for (int i = 0; i < count; ++i) total += vector[i].iov_len;
  return total;
}

Status check_vector(const iovec* vector, int count) {
  if (count < 0 || count > 1024)
    return fail(EINVAL, "invalid vector: %d pieces, at most 1024", count);
  if (total_of(vector, count) > static_cast<uint64_t>(SSIZE_MAX))
    return fail(EINVAL, "invalid vector: more than SSIZE_MAX bytes");
  return Status();
}

// Moves the pieces one after the other; what was moved before one failed or was cut short counts.
template <typename Move>
Result<size_t> move_pieces(const iovec* vector, int n, Move move) {
  size_t done = 0;
  for (int i = 0; i < n; ++i) {
    Result<size_t> moved = move(vector[i], done);
    if (!moved.ok()) {
      if (done != 0) break;
      return moved;
    }
    done += *moved;
    if (*moved < vector[i].iov_len) break;
  }
  return done;
}

Result<size_t> read_vector(file::File& file, const iovec* vector, int n, uint64_t offset) {
  return move_pieces(vector, n, [&](const iovec& piece, size_t done) {
    return file::read_at(file, piece.iov_base, piece.iov_len, offset + done);
  });
}

Result<size_t> write_vector(file::File& file, const iovec* vector, int n, uint64_t offset) {
  return move_pieces(vector, n, [&](const iovec& piece, size_t done) {
    return file::write_at(file, piece.iov_base, piece.iov_len, offset + done);
  });
}

// O_SYNC, or durability=write on page media: what was written is durable when the call returns. On
// others every write is.
[[gnu::noinline]] Result<size_t> sync_written(file::File& file, Result<size_t> written) {
  if (Status status = file::sync_file(*file.fs, file.map()); !status.ok()) return status;
  return written;
}
inline Result<size_t> synced(file::File& file, Result<size_t> written) {
  if (file.writes_fast || !(file.synchronous || file.fs->durable_writes) || !written.ok())
      [[likely]]
    return written;
  return sync_written(file, written);
}

Result<size_t> append_vector(file::File& file, const iovec* vector, int n) {
  uint64_t offset = 0;
  return synced(file, file::append(file, vector, n, &offset));
}

// Does `move(&offset)` at the shared offset, which goes on behind what was moved.
template <typename Move>
Result<size_t> at_shared_offset(file::File& file, Move move) {
  file::FileSystem& fs = *file.fs;
  pool::SeatGuard seat(fs.pool, pool::SeatGuard::OnlyLocks());
  if (!seat.ok()) return pool::no_seat(fs.pool);
  file::OffsetGuard guard(file, *seat);
  uint64_t offset = file.shared->offset.load();
  Result<size_t> n = move(&offset);
  if (n.ok()) fs.pool.store(file.shared->offset, offset + *n);
  return n;
}

Result<size_t> write_shared(file::File& file, const iovec* vector, int n) {
  return synced(file, at_shared_offset(file, [&](uint64_t* offset) {
                  if (!appends(file)) return write_vector(file, vector, n, *offset);
                  uint64_t where = 0;
                  Result<size_t> wrote = file::append(file, vector, n, &where);
                  if (wrote.ok() && *wrote != 0) *offset = where;  // nothing written, nothing moved
                  return wrote;
                }));
}

Result<size_t> read_shared(file::File& file, const iovec* vector, int n) {
  return at_shared_offset(
      file, [&](const uint64_t* offset) { return read_vector(file, vector, n, *offset); });
}

Status seek_to(file::File& file, int64_t offset, int whence, uint64_t* result) {
  file::FileSystem& fs = *file.fs;
  if (whence != SEEK_SET && whence != SEEK_CUR) CAIRN_TRY(file::refresh(file));
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  file::OffsetGuard guard(file, *seat);
  int64_t base = 0;
  if (whence == SEEK_CUR)
    base = static_cast<int64_t>(file.shared->offset.load());
  else if (whence == SEEK_END)
    base = static_cast<int64_t>(file.inode->size.load());
  else if (whence == SEEK_DATA || whence == SEEK_HOLE) {
    if (offset < 0) return fail(ENXIO, "invalid offset %lld", static_cast<long long>(offset));
    auto found = whence == SEEK_DATA ? file::seek_data(file, static_cast<uint64_t>(offset))
                                     : file::seek_hole(file, static_cast<uint64_t>(offset));
    if (!found.ok()) return found.status();
    fs.pool.store(file.shared->offset, *found);
    *result = *found;
    return Status();
  } else if (whence != SEEK_SET) {
    return fail(EINVAL, "invalid whence %d", whence);
  }
  int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target))
    return fail(EOVERFLOW, "invalid seek: offset %lld from %lld", static_cast<long long>(offset),
                static_cast<long long>(base));
  if (target < 0) return fail(EINVAL, "invalid offset %lld", static_cast<long long>(target));
  fs.pool.store(file.shared->offset, static_cast<uint64_t>(target));
  *result = static_cast<uint64_t>(target);
  return Status();
}

}  // namespace
}  // namespace cairn::capi

using namespace cairn;        // NOLINT(google-build-using-namespace): the functions below are C
using namespace cairn::capi;  // NOLINT(google-build-using-namespace)

extern "C" {

ssize_t cairn_pread(cairn_file* file, void* buffer, size_t size, uint64_t offset) {
  const WriteWindow window;
  return count(file::read_fast(file_of(file), buffer, size, offset));
}

ssize_t cairn_pwrite(cairn_file* handle, const void* buffer, size_t size, uint64_t offset) {
  const WriteWindow window;
  file::File& file = file_of(handle);
  if (appends(file)) [[unlikely]] {
    // O_APPEND wins over the offset, as on Linux.
    const iovec piece = piece_of(buffer, size);
    return count(append_vector(file, &piece, 1));
  }
  return count(synced(file, file::write_fast(file, buffer, size, offset)));
}

ssize_t cairn_preadv(cairn_file* file, const struct iovec* vector, int n, uint64_t offset) {
  const WriteWindow window;
  if (Status s = check_vector(vector, n); !s.ok()) return code(s);
  return count(read_vector(file_of(file), vector, n, offset));
}

ssize_t cairn_pwritev(cairn_file* handle, const struct iovec* vector, int n, uint64_t offset) {
  const WriteWindow window;
  if (Status s = check_vector(vector, n); !s.ok()) return code(s);
  file::File& file = file_of(handle);
  if (appends(file)) return count(append_vector(file, vector, n));
  return count(synced(file, write_vector(file, vector, n, offset)));
}

int64_t cairn_read_pieces(cairn_file* file, const cairn_piece* pieces, size_t number) {
  const WriteWindow window;
  return count(file::read_pieces(file_of(file), pieces_of(pieces), number));
}

int64_t cairn_write_pieces(cairn_file* handle, const cairn_piece* pieces, size_t number) {
  const WriteWindow window;
  file::File& file = file_of(handle);
  return count(synced(file, file::write_pieces(file, pieces_of(pieces), number)));
}

ssize_t cairn_appendv(cairn_file* handle, const struct iovec* vector, int n) {
  const WriteWindow window;
  if (Status s = check_vector(vector, n); !s.ok()) return code(s);
  return count(append_vector(file_of(handle), vector, n));
}

ssize_t cairn_read(cairn_file* file, void* buffer, size_t size) {
  const WriteWindow window;
  const iovec piece{buffer, size};
  return count(read_shared(file_of(file), &piece, 1));
}
ssize_t cairn_write(cairn_file* file, const void* buffer, size_t size) {
  const WriteWindow window;
  const iovec piece = piece_of(buffer, size);
  return count(write_shared(file_of(file), &piece, 1));
}
ssize_t cairn_readv(cairn_file* file, const struct iovec* vector, int n) {
  const WriteWindow window;
  if (Status s = check_vector(vector, n); !s.ok()) return code(s);
  return count(read_shared(file_of(file), vector, n));
}
ssize_t cairn_writev(cairn_file* file, const struct iovec* vector, int n) {
  const WriteWindow window;
  if (Status s = check_vector(vector, n); !s.ok()) return code(s);
  return count(write_shared(file_of(file), vector, n));
}

int64_t cairn_seek(cairn_file* file, int64_t offset, int whence) {
  const WriteWindow window;
  uint64_t result = 0;
  Status status = seek_to(file_of(file), offset, whence, &result);
  return status.ok() ? static_cast<int64_t>(result) : -status.code();
}

}  // extern "C"
