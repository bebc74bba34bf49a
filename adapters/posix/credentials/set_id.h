// Set-id bits: what a file loses of S_ISUID and S_ISGID when it is given away, or when somebody
// other than root changes its bytes, as on Linux. S_ISGID without the group's execute bit is no
// right to anything; whoever is in the group keeps it.
#pragma once

#include <sys/stat.h>

#include "posix/core/engine.h"
#include "posix/fd/mappings.h"

namespace posix {

// The bits that a file of this state, which is no directory, loses by the caller's change.
unsigned set_ids_lost(const cairn_stat& st);

// The bytes of a file were changed that had such bits.
void take_set_ids(cairn_ino ino);

constexpr uint32_t kSetIds = S_ISUID | S_ISGID;

// After each change through an open file. Files without the bits pay for a look at a line that the
// change has used; who asks is looked up for the others only, as that is a system call.
inline void bytes_changed(cairn_file* file) {
  if (__builtin_expect((cairn_file_mode(file) & kSetIds) != 0, 0))
    take_set_ids(cairn_file_ino(file));
  if (__builtin_expect(mappings::may_grow.load(std::memory_order_relaxed), 0))
    mappings::file_changed(cairn_file_ino(file));
}
// The same for what a write returned. Programs seldom look at what becomes of their last bytes,
// when streams are closed at exit.
inline ssize_t written(cairn_file* file, ssize_t wrote) {
  if (wrote > 0) bytes_changed(file);
  if (__builtin_expect(wrote == -EIO, 0)) log_few("a write failed: ", cairn_last_error());
  return wrote;
}

}  // namespace posix
