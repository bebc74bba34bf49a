// Which errors say that a medium has lost or changed what lay on it.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/status.h"

namespace cairn::checkpoint {

// Is another copy or an older version the better choice? Damage of an inode makes its file one of
// another kind, or none.
inline bool is_of_medium(const Status& status) {
  constexpr std::array codes = {EUCLEAN, EIO,   ENOENT, ESTALE, ENOTDIR, EISDIR,
                                EINVAL,  ENXIO, ELOOP,  EFBIG,  ENODATA, EOVERFLOW};
  return std::find(codes.begin(), codes.end(), status.code()) != codes.end();
}

}  // namespace cairn::checkpoint
