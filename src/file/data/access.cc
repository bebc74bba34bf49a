#include "file/data/access.h"

#include "pool/lanes/seats.h"

namespace cairn::file {

Status without_lower(const File& file) {
  return fail(
      EIO,
      "inode %llu: its contents lie in the covered directory, which this process has not joined",
      static_cast<unsigned long long>(file.number));
}

Status no_buffer(const File& file) {
  return fail(EFAULT, "inode %llu: the buffer is NULL",
              static_cast<unsigned long long>(file.number));
}

Status refresh(File& file) {
  FileSystem& fs = *file.fs;
  const auto remote = remote_of(fs, file.map());
  if (remote == nullptr) return Status();
  Remote::RemoteAttributes now;
  CAIRN_TRY(remote->look(&now));
  const pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  fs.pool.store(file.inode->size, now.size);
  fs.pool.store(file.inode->atime, now.atime);
  fs.pool.store(file.inode->mtime, now.mtime);
  fs.pool.store(file.inode->ctime, now.ctime);
  fs.pool.store(file.inode->mode, (file.inode->mode.load() & ~07777ULL) | (now.mode & 07777));
  fs.pool.store(file.inode->owner, now.owner);
  return Status();
}

Status write_refused(const File& file, uint64_t offset) {
  if (!file.writable)
    return fail(EBADF, "inode %llu: not open for writing",
                static_cast<unsigned long long>(file.number));
  CAIRN_TRY(file.fs->pool.check_writable());
  return fail(EFBIG, "inode %llu: offset %llu is beyond the largest file",
              static_cast<unsigned long long>(file.number),
              static_cast<unsigned long long>(offset));
}

}  // namespace cairn::file
