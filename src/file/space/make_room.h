// Making room in a full pool: what was filled ahead and not written, what others withhold, and what
// lower has as well comes back, and the call that failed is made again.
#pragma once

#include <cerrno>

#include "file/inode/file_system.h"

namespace cairn::file {

// Whether to try again after the `tries`th time that the pool was full; `wanted` bytes are still to
// come, as far as that is known. Once in any case: others may have freed what they were about to in
// the meantime. Not without end: others may take what comes back.
bool try_again(FileSystem& fs, int tries, uint64_t wanted = 0);

// call(), and again if the pool was full and there may be room now. The caller is in no seat and
// holds no lock; what fails with ENOSPC has changed nothing.
template <typename Call>
auto with_room(FileSystem& fs, Call call, uint64_t wanted = 0) {
  auto result = call();
  for (int tries = 1; result.code() == ENOSPC && try_again(fs, tries, wanted); ++tries)
    result = call();
  return result;
}

// Evicts files that are the same in lower (Lower::evict_some) until about `wanted` bytes came back.
// False: none did. The caller announces nothing.
bool evict_for(FileSystem& fs, uint64_t wanted, bool has_drained = false);

}  // namespace cairn::file
