// Making room in a full pool: returns blocks that were filled ahead and not written, reclaims
// blocks that others withhold, evicts files that lower also has, and repeats the call that failed.
#pragma once

#include <cerrno>

#include "file/inode/file_system.h"

namespace cairn::file {

// Returns true if the call is to be tried again after the pool was full for the `tries`th time.
// `wanted` is the number of bytes that the call still needs, as far as known. The first time it
// always returns true: other processes may have freed space meanwhile. The number of tries is
// bounded: others may take what comes back.
bool try_again(FileSystem& fs, int tries, uint64_t wanted = 0);

// Runs call(), and repeats it while the pool was full and may have room now. The caller is in no
// seat and holds no lock; a call that fails with ENOSPC must have changed nothing.
template <typename Call>
auto with_room(FileSystem& fs, Call call, uint64_t wanted = 0) {
  auto result = call();
  for (int tries = 1; result.code() == ENOSPC && try_again(fs, tries, wanted); ++tries)
    result = call();
  return result;
}

// Evicts files that are the same in lower (Lower::evict_some) until about `wanted` bytes have come
// back. Returns false if none has. The caller announces nothing.
bool evict_for(FileSystem& fs, uint64_t wanted, bool has_drained = false);

}  // namespace cairn::file
