// C API: an open file's attributes, space, durability, mappings and views.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "capi/core/handles.h"
#include "file/data/access.h"
#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/data/truncate.h"
#include "file/inode/attributes.h"
#include "pool/lanes/seats.h"

namespace cairn::capi {
namespace {

Status check_regular(const file::File& file) {
  if (!file.writable)
    return fail(EBADF, "inode %llu: not open for writing",
                static_cast<unsigned long long>(file.number));
  if (!S_ISREG(file.inode->mode.load()))
    return fail(ENODEV, "inode %llu: not a regular file",
                static_cast<unsigned long long>(file.number));
  return Status();
}

Status preallocate(file::File& file, int mode, uint64_t offset, uint64_t size) {
  constexpr int keep_size = FALLOC_FL_KEEP_SIZE;
  CAIRN_TRY(check_regular(file));
  if (size == 0) return fail(EINVAL, "invalid range: no bytes");
  if (offset > file::max_file_size || size > file::max_file_size - offset)
    return fail(EFBIG, "offset %llu is beyond the largest file",
                static_cast<unsigned long long>(offset));
  file::FileSystem& fs = *file.fs;
  if (file::remote_of(fs, file.map()) != nullptr)
    return fail(EOPNOTSUPP, "cannot reserve space: the file is on another host");
  const uint64_t end = offset + size;
  if (mode == (FALLOC_FL_PUNCH_HOLE | keep_size)) return file::punch(fs, file.map(), offset, size);
  const bool zero = (mode & FALLOC_FL_ZERO_RANGE) != 0;
  if ((mode & ~(keep_size | FALLOC_FL_ZERO_RANGE)) != 0)
    return fail(EOPNOTSUPP, "fallocate mode %#x is not supported", static_cast<unsigned>(mode));
  CAIRN_TRY(file::allocate(file, offset, size));
  if (zero) CAIRN_TRY(file::zero_range(file, offset, size));
  if ((mode & keep_size) == 0 && end > file.inode->size.load())
    CAIRN_TRY(file::grow_size(file, end));
  return Status();
}

// Counts as a writer while it looks for the bytes: an eviction waits until they are pinned.
Status view_of(file::File& file, uint64_t offset, size_t size, cairn_view* view) {
  file::FileSystem& fs = *file.fs;
  pool::SeatGuard seat(fs.pool, file.number);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  if (file::is_changing(*file.inode)) file::wait_for_shape(fs, seat, *file.inode, file.number);
  if (fs.lower != nullptr && file::is_lazy(file)) return file::became_lazy;
  const uint64_t end = file.inode->size.load();
  if (offset >= end)
    return fail(ENODATA, "offset %llu is beyond the end", static_cast<unsigned long long>(offset));
  CAIRN_TRY_ASSIGN(pin, file::pin_inode(fs, *seat, file.number));
  file::MapCursor cursor;
  const uint64_t block = offset >> format::block_shift;
  Status status = file::walk(fs.pool, file.map(), block, &cursor);
  if (status.ok() && !cursor.block)
    status = fail(ENODATA, "a hole at offset %llu", static_cast<unsigned long long>(offset));
  if (!status.ok()) {
    file::unpin(fs, pin);
    return status;
  }
  const uint64_t in_block = offset & (format::block_size - 1);
  const uint64_t wanted = std::min<uint64_t>(size, end - offset);
  const uint64_t blocks =
      file::contiguous(fs.pool, file.map(), block, cursor,
                       (in_block + wanted + format::block_size - 1) >> format::block_shift);
  view->data = fs.pool.at(cursor.block) + in_block;
  view->size =
      static_cast<size_t>(std::min<uint64_t>(wanted, (blocks << format::block_shift) - in_block));
  view->pin = reinterpret_cast<uint64_t>(new file::PinHandle(std::move(pin)));
  return Status();
}

}  // namespace
}  // namespace cairn::capi

using namespace cairn;        // NOLINT(google-build-using-namespace): the functions below are C
using namespace cairn::capi;  // NOLINT(google-build-using-namespace)

extern "C" {

int cairn_fstat(cairn_file* handle, cairn_stat* st) {
  const WriteWindow window;
  file::File& file = file_of(handle);
  if (Status s = file::refresh(file); !s.ok()) return code(s);
  pool::SeatGuard seat(file.fs->pool);
  if (!seat.ok()) return code(pool::no_seat(file.fs->pool));
  fill_stat(*file.fs, file.map(), st);
  return 0;
}

int cairn_ftruncate(cairn_file* handle, uint64_t size) {
  const WriteWindow window;
  file::File& file = file_of(handle);
  if (!file.writable || !S_ISREG(file.inode->mode.load()))
    return code(fail(EINVAL, "inode %llu: not a regular file open for writing",
                     static_cast<unsigned long long>(file.number)));
  return code(file::truncate(*file.fs, file.map(), size));
}

int cairn_fallocate(cairn_file* file, int mode, uint64_t offset, uint64_t size) {
  const WriteWindow window;
  return code(preallocate(file_of(file), mode, offset, size));
}

int cairn_fsync(cairn_file* file) {
  const WriteWindow window;
  return code(file::sync_file(*file_of(file).fs, file_of(file).map()));
}
int cairn_fdatasync(cairn_file* file) { return cairn_fsync(file); }

int cairn_mmap(cairn_file* handle, void* address, size_t size, int prot, int flags, uint64_t offset,
               void** mapped) {
  const WriteWindow window;
  file::File& file = file_of(handle);
  auto& mappings = cairn_file_pool(handle)->mappings;
  for (int attempt = 0;; ++attempt) {
    auto result = mappings.map(file, address, size, prot, flags, offset);
    if (result.ok()) {
      *mapped = *result;
      return 0;
    }
    // Cut while it was being mapped: again, with what is left.
    // No room in the pool, be it for the file's bytes that still lie below or for the note of the
    // mapping.
    if (result.code() == ENOSPC) return -ENOMEM;
    if (result.code() != EAGAIN || attempt == 16) return -result.code();
  }
}

int64_t cairn_mmap_grow(cairn_file* handle, void* address, size_t size, int prot) {
  const WriteWindow window;
  auto& mappings = cairn_file_pool(handle)->mappings;
  for (int attempt = 0;; ++attempt) {
    auto result = mappings.grow(file_of(handle), address, size, prot);
    if (result.ok()) return static_cast<int64_t>(*result);
    if (result.code() != EAGAIN || attempt == 16) return -result.code();
  }
}

int cairn_munmap(cairn_pool* pool, void* address, size_t size) {
  const WriteWindow window;
  return code(pool->mappings.unmap(fs_of(pool), address, size));
}

void cairn_mmap_replaced(cairn_pool* pool, void* address, size_t size) {
  const WriteWindow window;
  pool->mappings.replaced(fs_of(pool), address, size);
}

int cairn_msync(cairn_pool* pool, void* address, size_t size, int flags) {
  const WriteWindow window;
  if ((flags & MS_SYNC) != 0 && (flags & MS_ASYNC) != 0)
    return code(fail(EINVAL, "invalid msync flags %#x", static_cast<unsigned>(flags)));
  return code(pool->mappings.sync(fs_of(pool), address, size));
}

int cairn_mmap_writable(cairn_pool* pool, void* address, size_t size) {
  const WriteWindow window;
  return code(pool->mappings.make_writable(fs_of(pool), address, size));
}

int cairn_view_open(cairn_file* handle, uint64_t offset, size_t size, cairn_view* view) {
  const WriteWindow window;
  file::File& file = file_of(handle);
  if (!file.readable)
    return code(fail(EBADF, "inode %llu: not open for reading",
                     static_cast<unsigned long long>(file.number)));
  return code(file::unless_lazy(file, [&] { return view_of(file, offset, size, view); }));
}

void cairn_view_close(cairn_file* file, cairn_view* view) {
  const WriteWindow window;
  std::unique_ptr<file::PinHandle> pin(reinterpret_cast<file::PinHandle*>(view->pin));
  if (pin != nullptr) {
    file::unpin(*file_of(file).fs, *pin);
    file::trim(*file_of(file).fs, file_of(file).map());
  }
  view->pin = 0;
  view->data = nullptr;
  view->size = 0;
}

}  // extern "C"
