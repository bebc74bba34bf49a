// What must hold before bytes of a file are read, written or mapped.
#pragma once

#include "file/inode/file_system.h"
#include "file/inode/shape.h"

namespace cairn::file {

// Do the file's contents still lie in the covered directory?
inline bool is_lazy(const File& file) { return is_lazy(*file.inode); }

// EIO: they do, and this process has not joined the cover.
Status without_lower(const File& file);

// What is to be written or mapped must be the pool's own first.
inline Status stage_if_lazy(const File& file) {
  if (!is_lazy(file)) [[likely]]
    return Status();
  if (file.fs->lower == nullptr) return without_lower(file);
  return file.fs->lower->stage(file.number);
}

// call(), and again after staging as long as the file has become lazy (shape.h) when it comes to
// it. The caller is in no seat and holds no lock.
template <typename Call>
auto unless_lazy(const File& file, Call call) -> decltype(call()) {
  for (;;) {
    CAIRN_TRY(stage_if_lazy(file));
    auto result = call();
    if (!is_became_lazy(result)) [[likely]]
      return result;
  }
}

// Where its bytes are written, if that is not this pool; else null.
inline std::shared_ptr<Remote> remote_of(const FileSystem& fs, const Map& map) {
  const bool may_be = (map.inode->flags.load() & format::flag_lazy) != 0 && fs.lower != nullptr;
  return may_be ? fs.lower->remote(map.number) : nullptr;
}

// What it shows of itself is what it is there by now, if it is such a file.
Status refresh(File& file);

// EFAULT if bytes are to be moved and there is no place for them. Asked off the fast path only: on
// it the copy itself faults, as with any other address that is not the program's.
Status no_buffer(const File& file);
inline Status check_buffer(const File& file, const void* buffer, uint64_t size) {
  return buffer != nullptr || size == 0 ? Status() : no_buffer(file);
}

// Why not; see check_write.
Status write_refused(const File& file, uint64_t offset);

// EBADF, EROFS or EFBIG if [offset, offset + size) may not be written through this handle.
inline Status check_write(const File& file, uint64_t offset, uint64_t size) {
  if (file.writable && !file.fs->pool.read_only && offset <= max_file_size &&
      size <= max_file_size - offset) [[likely]]
    return Status();
  return write_refused(file, offset);
}

}  // namespace cairn::file
