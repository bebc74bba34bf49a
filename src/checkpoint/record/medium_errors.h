// Tells errors of a medium, which has lost or changed data, from other errors.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/status.h"

namespace cairn::checkpoint {

// Returns true if another copy or an older version is the better choice. A damaged inode makes its
// file one of another kind, or none.
inline bool is_of_medium(const Status& status) {
  constexpr std::array codes = {EUCLEAN, EIO,   ENOENT, ESTALE, ENOTDIR, EISDIR,
                                EINVAL,  ENXIO, ELOOP,  EFBIG,  ENODATA, EOVERFLOW};
  return std::find(codes.begin(), codes.end(), status.code()) != codes.end();
}

}  // namespace cairn::checkpoint
