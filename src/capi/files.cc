// C API: open files.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "capi/handles.h"
#include "file/attributes.h"
#include "file/cut.h"
#include "file/io.h"
#include "file/names.h"
#include "file/sync.h"
#include "pool/seats.h"

namespace cairn::capi {
namespace {

// What F_SETFL may change.
constexpr int changeable_flags = O_APPEND | O_NONBLOCK | O_ASYNC | O_DIRECT | O_NOATIME;

int flags_of(const file::File& file) { return static_cast<int>(file.shared->flags.load()); }
bool appends(const file::File& file) { return (flags_of(file) & O_APPEND) != 0; }

Status open_path(file::FileSystem& fs, uint64_t dir, const char* path, int flags, uint32_t mode,
                 std::unique_ptr<file::File>* opened) {
  const int access = flags & O_ACCMODE;
  const bool writes = access != O_RDONLY && (flags & O_PATH) == 0;
  const bool tmpfile = (flags & O_TMPFILE) == O_TMPFILE;
  if (tmpfile && !writes) return fail(EINVAL, "%s: O_TMPFILE needs write access", path);
  for (int attempt = 0; attempt < 64; ++attempt) {
    file::Resolved at;
    file::ResolveOptions options;
    options.may_be_missing = (flags & O_CREAT) != 0;
    options.follow_last = (flags & O_NOFOLLOW) == 0 && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    Status status = file::resolve(fs, dir, path, options, &at);
    uint64_t number = at.inode;
    bool created = false;
    bool unnamed = false;
    if (status.code() == ENOENT && at.parent != 0 && (flags & O_CREAT) != 0 && !tmpfile) {
      if (at.must_be_directory) return fail(EISDIR, "%s: a name with a slash behind it", path);
      file::CreateRequest request;
      request.mode = S_IFREG | (mode & 07777);
      auto made = file::create_name(fs, at.parent, at.name, request);
      if (made.code() == EEXIST && (flags & O_EXCL) == 0) continue;  // somebody was faster
      if (!made.ok()) return made.status();
      number = made->number;
      created = true;
    } else if (!status.ok()) {
      return status;
    } else if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) && !tmpfile) {
      return fail(EEXIST, "%s: file exists", path);
    }
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    if (tmpfile) {
      auto directory = file::live_inode(fs, number);
      if (!directory.ok()) return directory.status();
      if (!S_ISDIR((*directory)->mode.load())) return fail(ENOTDIR, "%s: not a directory", path);
      auto made = file::create_unnamed(fs, *seat, S_IFREG | (mode & 07777));
      if (!made.ok()) return made.status();
      number = made->number;
      unnamed = true;
    }
    auto inode = file::live_inode(fs, number);
    if (!inode.ok()) {
      if (inode.code() == ESTALE && !created) continue;  // unlinked since it was found
      return inode.status();
    }
    const uint64_t type = (*inode)->mode.load() & S_IFMT;
    if (type == S_IFLNK && (flags & O_PATH) == 0) return fail(ELOOP, "%s: a symbolic link", path);
    if (type == S_IFDIR && (writes || (flags & O_CREAT) != 0) && !tmpfile)
      return fail(EISDIR, "%s: is a directory", path);
    if (type != S_IFDIR && (flags & O_DIRECTORY) != 0 && !tmpfile)
      return fail(ENOTDIR, "%s: not a directory", path);
    if ((type == S_IFIFO || type == S_IFSOCK) && (flags & O_PATH) == 0)
      return fail(ENXIO, "%s: FIFOs and sockets cannot be opened in a pool", path);
    if (writes && fs.pool.read_only)
      return fail(EROFS, "pool %s is attached read-only", fs.pool.path.c_str());
    auto file = file::open_inode(fs, *seat, number, flags);
    if (unnamed) fs.pool.fetch_add((*inode)->opens, ~0ULL);
    if (!file.ok()) {
      if (file.code() == ESTALE && !created) continue;
      return file.status();
    }
    *opened = std::move(*file);
    break;
  }
  if (*opened == nullptr) return fail(ESTALE, "%s: it is replaced faster than it can be opened", path);
  if ((flags & O_TRUNC) != 0 && writes && !tmpfile && S_ISREG((*opened)->inode->mode.load()) &&
      (*opened)->inode->size.load() != 0)
    return file::truncate(fs, (*opened)->map(), 0);
  return Status();
}

// For writing; iovec has no form for bytes that are only read.
iovec piece_of(const void* buffer, size_t size) {
  return {const_cast<void*>(buffer), size};  // not pool memory: the caller's own bytes
}

uint64_t total_of(const iovec* vector, int count) {
  uint64_t total = 0;
  for (int i = 0; i < count; ++i) total += vector[i].iov_len;
  return total;
}

Status check_vector(const iovec* vector, int count) {
  if (count < 0 || count > 1024) return fail(EINVAL, "a vector of %d pieces", count);
  if (total_of(vector, count) > static_cast<uint64_t>(SSIZE_MAX))
    return fail(EINVAL, "a vector of more than SSIZE_MAX bytes");
  return Status();
}

Result<size_t> read_vector(file::File& file, const iovec* vector, int count, uint64_t offset) {
  size_t done = 0;
  for (int i = 0; i < count; ++i) {
    auto n = file::read_at(file, vector[i].iov_base, vector[i].iov_len, offset + done);
    if (!n.ok()) {
      if (done != 0) break;
      return n;
    }
    done += *n;
    if (*n < vector[i].iov_len) break;
  }
  return done;
}

Result<size_t> write_vector(file::File& file, const iovec* vector, int count, uint64_t offset) {
  size_t done = 0;
  for (int i = 0; i < count; ++i) {
    auto n = file::write_at(file, vector[i].iov_base, vector[i].iov_len, offset + done);
    if (!n.ok()) {
      if (done != 0) break;
      return n;
    }
    done += *n;
    if (*n < vector[i].iov_len) break;
  }
  return done;
}

// O_SYNC: what was written is durable when the call returns.
Result<size_t> synced(file::File& file, Result<size_t> written) {
  if (!file.synchronous || !written.ok()) [[likely]] return written;
  if (Status status = file::sync_file(*file.fs, file.map()); !status.ok()) return status;
  return written;
}

Result<size_t> write_shared(file::File& file, const iovec* vector, int count) {
  file::FileSystem& fs = *file.fs;
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  file::OffsetGuard guard(file, *seat);
  uint64_t offset = file.shared->offset.load();
  Result<size_t> n = appends(file) ? file::append(file, vector, count, &offset)
                                   : write_vector(file, vector, count, offset);
  if (n.ok()) fs.pool.store(file.shared->offset, offset + *n);
  return synced(file, n);
}

Result<size_t> read_shared(file::File& file, const iovec* vector, int count) {
  file::FileSystem& fs = *file.fs;
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  file::OffsetGuard guard(file, *seat);
  const uint64_t offset = file.shared->offset.load();
  auto n = read_vector(file, vector, count, offset);
  if (n.ok()) fs.pool.store(file.shared->offset, offset + *n);
  return n;
}

Status seek_to(file::File& file, int64_t offset, int whence, uint64_t* result) {
  file::FileSystem& fs = *file.fs;
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  file::OffsetGuard guard(file, *seat);
  int64_t base = 0;
  if (whence == SEEK_CUR) base = static_cast<int64_t>(file.shared->offset.load());
  else if (whence == SEEK_END) base = static_cast<int64_t>(file.inode->size.load());
  else if (whence == SEEK_DATA || whence == SEEK_HOLE) {
    if (offset < 0) return fail(ENXIO, "offset %lld", static_cast<long long>(offset));
    auto found = whence == SEEK_DATA ? file::seek_data(file, static_cast<uint64_t>(offset))
                                     : file::seek_hole(file, static_cast<uint64_t>(offset));
    if (!found.ok()) return found.status();
    fs.pool.store(file.shared->offset, *found);
    *result = *found;
    return Status();
  } else if (whence != SEEK_SET) {
    return fail(EINVAL, "whence %d", whence);
  }
  int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target))
    return fail(EOVERFLOW, "offset %lld from %lld", static_cast<long long>(offset), static_cast<long long>(base));
  if (target < 0) return fail(EINVAL, "an offset of %lld", static_cast<long long>(target));
  fs.pool.store(file.shared->offset, static_cast<uint64_t>(target));
  *result = static_cast<uint64_t>(target);
  return Status();
}

Status check_regular(const file::File& file) {
  if (!file.writable)
    return fail(EBADF, "inode %llu: not open for writing", static_cast<unsigned long long>(file.number));
  if (!S_ISREG(file.inode->mode.load()))
    return fail(ENODEV, "inode %llu: not a regular file", static_cast<unsigned long long>(file.number));
  return Status();
}

Status preallocate(file::File& file, int mode, uint64_t offset, uint64_t size) {
  constexpr int keep_size = FALLOC_FL_KEEP_SIZE;
  CAIRN_TRY(check_regular(file));
  if (size == 0) return fail(EINVAL, "a range of no bytes");
  if (offset > file::max_file_size || size > file::max_file_size - offset)
    return fail(EFBIG, "offset %llu is beyond the largest file", static_cast<unsigned long long>(offset));
  file::FileSystem& fs = *file.fs;
  if ((file.inode->flags.load() & format::flag_lazy) != 0 && fs.lower != nullptr)
    CAIRN_TRY(fs.lower->stage(file.number, false));
  const uint64_t end = offset + size;
  if (mode == (FALLOC_FL_PUNCH_HOLE | keep_size)) return file::punch(fs, file.map(), offset, size);
  const bool zero = (mode & FALLOC_FL_ZERO_RANGE) != 0;
  if ((mode & ~(keep_size | FALLOC_FL_ZERO_RANGE)) != 0)
    return fail(EOPNOTSUPP, "fallocate mode %#x is not served", static_cast<unsigned>(mode));
  CAIRN_TRY(file::allocate(file, offset, size));
  if (zero) CAIRN_TRY(file::zero_mapped(fs, file.map(), offset, end));
  if ((mode & keep_size) == 0 && end > file.inode->size.load()) CAIRN_TRY(file::grow_size(file, end));
  return Status();
}

}  // namespace
}  // namespace cairn::capi

using namespace cairn;        // NOLINT(google-build-using-namespace): the functions below are C
using namespace cairn::capi;  // NOLINT(google-build-using-namespace)

extern "C" {

int cairn_open(cairn_pool* pool, cairn_ino dir, const char* path, int flags, uint32_t mode,
               cairn_file** file) {
  std::unique_ptr<file::File> opened;
  if (Status s = open_path(fs_of(pool), dir, path, flags, mode, &opened); !s.ok()) {
    if (opened != nullptr) cairn_close(handle_of(opened.release()));
    return code(s);
  }
  *file = handle_of(opened.release());
  return 0;
}

int cairn_open_ino(cairn_pool* pool, cairn_ino ino, int flags, cairn_file** file) {
  auto& fs = fs_of(pool);
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return code(pool::no_seat(fs.pool));
  auto opened = file::open_inode(fs, *seat, ino, flags);
  if (!opened.ok()) return -opened.code();
  *file = handle_of(opened->release());
  return 0;
}

int cairn_close(cairn_file* handle) {
  if (handle == nullptr) return code(fail(EBADF, "no file"));
  file::File& file = file_of(handle);
  if (file.references.fetch_sub(1) != 1) return 0;
  pool::SeatGuard seat(file.fs->pool);
  if (!seat.ok()) return code(pool::no_seat(file.fs->pool));
  file::close_file(*seat, std::unique_ptr<file::File>(&file));
  return 0;
}

void cairn_retain(cairn_file* file) { file_of(file).references.fetch_add(1); }

void cairn_file_get_id(cairn_file* handle, cairn_file_id* id) {
  id->slot = file_of(handle).slot;
  id->generation = file_of(handle).slot_generation;
}

int cairn_file_adopt(cairn_pool* pool, cairn_file_id id, cairn_file** file) {
  auto& fs = fs_of(pool);
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return code(pool::no_seat(fs.pool));
  auto adopted = file::adopt(fs, *seat, id.slot, id.generation);
  if (!adopted.ok()) return -adopted.code();
  *file = handle_of(adopted->release());
  return 0;
}

cairn_ino cairn_file_ino(cairn_file* file) { return file_of(file).number; }
cairn_pool* cairn_file_pool(cairn_file* file) {
  return static_cast<cairn_pool*>(file_of(file).fs->handle);
}
int cairn_file_get_flags(cairn_file* file) { return flags_of(file_of(file)); }

int cairn_file_set_flags(cairn_file* handle, int flags) {
  file::File& file = file_of(handle);
  uint64_t now = file.shared->flags.load();
  uint64_t wanted = 0;
  do {
    wanted = (now & ~static_cast<uint64_t>(static_cast<uint32_t>(changeable_flags))) |
             static_cast<uint64_t>(static_cast<uint32_t>(flags & changeable_flags));
  } while (!file.fs->pool.compare_exchange(file.shared->flags, now, wanted));
  return 0;
}

ssize_t cairn_pread(cairn_file* file, void* buffer, size_t size, uint64_t offset) {
  return count(file::read_at(file_of(file), buffer, size, offset));
}

ssize_t cairn_pwrite(cairn_file* handle, const void* buffer, size_t size, uint64_t offset) {
  file::File& file = file_of(handle);
  if (appends(file)) [[unlikely]] {
    // As Linux does: O_APPEND wins over the offset.
    const iovec piece = piece_of(buffer, size);
    return count(synced(file, file::append(file, &piece, 1, &offset)));
  }
  return count(synced(file, file::write_at(file, buffer, size, offset)));
}

ssize_t cairn_preadv(cairn_file* file, const struct iovec* vector, int n, uint64_t offset) {
  if (Status s = check_vector(vector, n); !s.ok()) return code(s);
  return count(read_vector(file_of(file), vector, n, offset));
}

ssize_t cairn_pwritev(cairn_file* handle, const struct iovec* vector, int n, uint64_t offset) {
  if (Status s = check_vector(vector, n); !s.ok()) return code(s);
  file::File& file = file_of(handle);
  if (appends(file)) return count(synced(file, file::append(file, vector, n, &offset)));
  return count(synced(file, write_vector(file, vector, n, offset)));
}

ssize_t cairn_read(cairn_file* file, void* buffer, size_t size) {
  const iovec piece{buffer, size};
  return count(read_shared(file_of(file), &piece, 1));
}
ssize_t cairn_write(cairn_file* file, const void* buffer, size_t size) {
  const iovec piece = piece_of(buffer, size);
  return count(write_shared(file_of(file), &piece, 1));
}
ssize_t cairn_readv(cairn_file* file, const struct iovec* vector, int n) {
  if (Status s = check_vector(vector, n); !s.ok()) return code(s);
  return count(read_shared(file_of(file), vector, n));
}
ssize_t cairn_writev(cairn_file* file, const struct iovec* vector, int n) {
  if (Status s = check_vector(vector, n); !s.ok()) return code(s);
  return count(write_shared(file_of(file), vector, n));
}

int64_t cairn_seek(cairn_file* file, int64_t offset, int whence) {
  uint64_t result = 0;
  Status status = seek_to(file_of(file), offset, whence, &result);
  return status.ok() ? static_cast<int64_t>(result) : -status.code();
}

int cairn_fstat(cairn_file* handle, cairn_stat* st) {
  file::File& file = file_of(handle);
  pool::SeatGuard seat(file.fs->pool);
  if (!seat.ok()) return code(pool::no_seat(file.fs->pool));
  fill_stat(*file.fs, file.map(), st);
  return 0;
}

int cairn_ftruncate(cairn_file* handle, uint64_t size) {
  file::File& file = file_of(handle);
  if (!file.writable || !S_ISREG(file.inode->mode.load()))
    return code(fail(EINVAL, "inode %llu: not a regular file open for writing",
                     static_cast<unsigned long long>(file.number)));
  return code(file::truncate(*file.fs, file.map(), size));
}

int cairn_fallocate(cairn_file* file, int mode, uint64_t offset, uint64_t size) {
  return code(preallocate(file_of(file), mode, offset, size));
}

int cairn_fsync(cairn_file* file) { return code(file::sync_file(*file_of(file).fs, file_of(file).map())); }
int cairn_fdatasync(cairn_file* file) { return cairn_fsync(file); }

int cairn_mmap(cairn_file* handle, void* address, size_t size, int prot, int flags, uint64_t offset,
               void** mapped) {
  file::File& file = file_of(handle);
  auto& mappings = cairn_file_pool(handle)->mappings;
  for (int attempt = 0;; ++attempt) {
    auto result = mappings.map(file, address, size, prot, flags, offset);
    if (result.ok()) {
      *mapped = *result;
      return 0;
    }
    // Cut while it was being mapped: again, with what is left.
    if (result.code() != EAGAIN || attempt == 16) return -result.code();
  }
}

int cairn_munmap(cairn_pool* pool, void* address, size_t size) {
  return code(pool->mappings.unmap(address, size));
}

int cairn_msync(cairn_pool* pool, void* address, size_t size, int flags) {
  if ((flags & MS_SYNC) != 0 && (flags & MS_ASYNC) != 0)
    return code(fail(EINVAL, "msync flags %#x", static_cast<unsigned>(flags)));
  return code(pool->mappings.sync(fs_of(pool), address, size));
}

int cairn_view_open(cairn_file* handle, uint64_t offset, size_t size, cairn_view* view) {
  file::File& file = file_of(handle);
  file::FileSystem& fs = *file.fs;
  if (!file.readable) return code(fail(EBADF, "inode %llu: not open for reading", static_cast<unsigned long long>(file.number)));
  if ((file.inode->flags.load() & format::flag_lazy) != 0 && fs.lower != nullptr) {
    if (Status s = fs.lower->stage(file.number, false); !s.ok()) return code(s);
  }
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return code(pool::no_seat(fs.pool));
  const uint64_t end = file.inode->size.load();
  if (offset >= end) return code(fail(ENODATA, "offset %llu is beyond the end", static_cast<unsigned long long>(offset)));
  auto pin = file::pin_inode(fs, *seat, file.number);
  if (!pin.ok()) return -pin.code();
  file::Spot spot;
  const uint64_t block = offset >> format::block_shift;
  Status status = file::walk(fs.pool, file.map(), block, &spot);
  if (status.ok() && !spot.block)
    status = fail(ENODATA, "a hole at offset %llu", static_cast<unsigned long long>(offset));
  if (!status.ok()) {
    file::unpin(fs, *pin);
    return code(status);
  }
  const uint64_t in_block = offset & (format::block_size - 1);
  const uint64_t wanted = std::min<uint64_t>(size, end - offset);
  const uint64_t blocks = file::contiguous(fs.pool, file.map(), block, spot,
                                           (in_block + wanted + format::block_size - 1) >> format::block_shift);
  view->data = fs.pool.at(spot.block) + in_block;
  view->size = static_cast<size_t>(std::min<uint64_t>(wanted, (blocks << format::block_shift) - in_block));
  view->pin = reinterpret_cast<uint64_t>(new file::PinHandle(std::move(*pin)));
  return 0;
}

void cairn_view_close(cairn_file* file, cairn_view* view) {
  std::unique_ptr<file::PinHandle> pin(reinterpret_cast<file::PinHandle*>(view->pin));
  if (pin != nullptr) file::unpin(*file_of(file).fs, *pin);
  view->pin = 0;
  view->data = nullptr;
  view->size = 0;
}

int cairn_companion(cairn_file* handle) {
  file::File& file = file_of(handle);
  char name[64];
  std::snprintf(name, sizeof name, "/companion/%llu.%llu", static_cast<unsigned long long>(file.number),
                static_cast<unsigned long long>(file.inode->generation.load()));
  const std::string path = file.fs->pool.path + name;
  if ((file.inode->flags.load() & format::flag_companion) == 0) {
    if (Status s = file::set_flags(*file.fs, file.number, format::flag_companion, 0); !s.ok())
      return code(s);
  }
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  return fd >= 0 ? fd : code(fail(errno, "%s: %s", path.c_str(), strerror(errno)));
}

}  // extern "C"
