#include "file/access.h"

namespace cairn::file {

Status without_lower(const File& file) {
  return fail(EIO,
              "inode %llu: its contents still lie in the covered directory, which is not joined",
              static_cast<unsigned long long>(file.number));
}

Status write_refused(const File& file, uint64_t offset) {
  if (!file.writable)
    return fail(EBADF, "inode %llu: not open for writing",
                static_cast<unsigned long long>(file.number));
  if (file.fs->pool.read_only)
    return fail(EROFS, "pool %s is attached read-only", file.fs->pool.path.c_str());
  return fail(EFBIG, "inode %llu: offset %llu is beyond the largest file",
              static_cast<unsigned long long>(file.number),
              static_cast<unsigned long long>(offset));
}

}  // namespace cairn::file
