// Checks that precede reading, writing or mapping bytes of a file.
#pragma once

#include "file/inode/file_system.h"
#include "file/inode/shape.h"

namespace cairn::file {

// Returns true if the file's contents lie in the covered directory.
inline bool is_lazy(const File& file) { return is_lazy(*file.inode); }

// Returns EIO: the file is lazy, and this process has not joined the cover.
Status without_lower(const File& file);

// Stages a lazy file before it is written or mapped.
inline Status stage_if_lazy(const File& file) {
  if (!is_lazy(file)) [[likely]]
    return Status();
  if (file.fs->lower == nullptr) return without_lower(file);
  return file.fs->lower->stage(file.number);
}

// Runs call(); whenever it finds that the file has become lazy (shape.h), stages the file and runs
// call() again. The caller is in no seat and holds no lock.
template <typename Call>
auto unless_lazy(const File& file, Call call) -> decltype(call()) {
  for (;;) {
    CAIRN_TRY(stage_if_lazy(file));
    auto result = call();
    if (!is_became_lazy(result)) [[likely]]
      return result;
  }
}

// Returns the destination of writes to a file whose bytes stay in another node's pool; else null.
inline std::shared_ptr<Remote> remote_of(const FileSystem& fs, const Map& map) {
  const bool may_be = (map.inode->flags.load() & format::flag_lazy) != 0 && fs.lower != nullptr;
  return may_be ? fs.lower->remote(map.number) : nullptr;
}

// Refreshes size and times from the owning node, if the file is remote.
Status refresh(File& file);

// Returns EFAULT: there are bytes to move and the buffer is null. Only the slow path checks: on the
// fast path the copy itself faults, as with any other invalid address.
Status no_buffer(const File& file);
inline Status check_buffer(const File& file, const void* buffer, uint64_t size) {
  return buffer != nullptr || size == 0 ? Status() : no_buffer(file);
}

// Returns the reason for which check_write() refuses a write.
Status write_refused(const File& file, uint64_t offset);

// Returns EBADF, EROFS or EFBIG if [offset, offset + size) may not be written through this handle.
inline Status check_write(const File& file, uint64_t offset, uint64_t size) {
  if (file.writable && !file.fs->pool.read_only && offset <= max_file_size &&
      size <= max_file_size - offset) [[likely]]
    return Status();
  return write_refused(file, offset);
}

}  // namespace cairn::file
