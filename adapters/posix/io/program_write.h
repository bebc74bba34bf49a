// Writes of the program to covered files, by any call. They keep to the limit of file sizes and
// update what depends on a file's bytes. All return a count or a negative errno.
#pragma once

#include <sys/uio.h>

#include "posix/credentials/set_id.h"
#include "posix/fd/size_limit.h"

namespace posix {

// The place of a write: an offset, or one of these. A file opened with O_APPEND ignores it and
// appends.
constexpr int64_t kSharedOffset = -1;
constexpr int64_t kEndOfFile = -2;  // the shared offset does not move

ssize_t write_for_program(cairn_file* file, const struct iovec* vector, int count, int64_t where);

// Returns how much of a write of `size` bytes the limit of sizes allows, or a negative errno.
ssize_t size_below_limit(cairn_file* file, size_t size, int64_t where,
                         size_limit::Signal signal = size_limit::Signal::yes);

// Writes as write_for_program() does, under a limit.
ssize_t write_below_limit(cairn_file* file, const struct iovec* vector, int count, int64_t where,
                          size_limit::Signal signal = size_limit::Signal::yes);

inline struct iovec piece_of(const void* buffer, size_t size) {
  return {const_cast<void*>(buffer), size};
}

inline ssize_t write_for_program(cairn_file* file, const void* buffer, size_t size) {
  if (__builtin_expect(size_limit::is_set(), 0)) {
    const struct iovec piece = piece_of(buffer, size);
    return write_below_limit(file, &piece, 1, kSharedOffset);
  }
  return written(file, cairn_write(file, buffer, size));
}
inline ssize_t write_for_program_at(cairn_file* file, const void* buffer, size_t size,
                                    uint64_t offset) {
  if (__builtin_expect(size_limit::is_set(), 0)) {
    const struct iovec piece = piece_of(buffer, size);
    return write_below_limit(file, &piece, 1, static_cast<int64_t>(offset));
  }
  return written(file, cairn_pwrite(file, buffer, size, offset));
}

}  // namespace posix
