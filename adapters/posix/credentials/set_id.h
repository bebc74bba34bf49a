// Set-id bits: S_ISUID and S_ISGID are taken from a file that changes its owner, and from one whose
// bytes a user other than root changes, as on Linux. S_ISGID without the group's execute bit grants
// no right; a caller in the group keeps it.
#pragma once

#include <sys/stat.h>

#include "posix/core/engine.h"
#include "posix/fd/mappings.h"

namespace posix {

// Returns the bits that a file of this state loses by the caller's change. The file is not a
// directory.
unsigned set_ids_lost(const cairn_stat& st);

// Takes the set-id bits from a file whose bytes were changed.
void take_set_ids(cairn_ino ino);

constexpr uint32_t kSetIds = S_ISUID | S_ISGID;

// Call it after each change through an open file. Files without the bits cost one load from a cache
// line that the change has used. For others the calling user is looked up, which is a system call.
inline void bytes_changed(cairn_file* file) {
  if (__builtin_expect((cairn_file_mode(file) & kSetIds) != 0, 0))
    take_set_ids(cairn_file_ino(file));
  if (__builtin_expect(mappings::may_grow.load(std::memory_order_relaxed), 0))
    mappings::file_changed(cairn_file_ino(file));
}
// Passes on the result of a write. Logs an I/O error, because programs seldom check their last
// writes, when streams are closed at exit.
inline ssize_t written(cairn_file* file, ssize_t wrote) {
  if (wrote > 0) bytes_changed(file);
  if (__builtin_expect(wrote == -EIO, 0)) log_few("a write failed: ", cairn_last_error());
  return wrote;
}

}  // namespace posix
