// The last steps of a write, once its bytes are in place.
#pragma once

#include "file/inode/attributes.h"
#include "file/inode/file_system.h"

namespace cairn::file {

// Makes the bytes written up to `end` durable.
[[gnu::noinline]] Status persist_write(File& file, uint64_t end);

// Moves the file's time, because a write that fails may have changed bytes and a drain would take
// the file for drained. Returns `status`.
[[gnu::cold]] Status fail_write(File& file, Status status);

inline Status finish_write(File& file, uint64_t end) {
  if (!file.fs->pool.is_volatile) {
    Status status = persist_write(file, end);
    if (!status.ok()) [[unlikely]]
      return fail_write(file, status);
  }
  touch_modified(file);
  return Status();
}

}  // namespace cairn::file
