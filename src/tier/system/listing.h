// Lists a directory of the pool while other processes use it.
#pragma once

#include <string>
#include <vector>

#include "file/namespace/directory.h"
#include "pool/lanes/seats.h"

namespace cairn::tier {

// Calls visit(listed) for each name until it fails, and holds no lock meanwhile. A listed name may
// have been removed by then, and names that the visit adds may be visited too.
template <typename Visit>
Status for_each_name(file::FileSystem& fs, const file::Map& directory, bool whiteouts,
                     Visit visit) {
  std::vector<file::Listed> batch(32);
  for (uint64_t cookie = 0;;) {
    size_t count = 0;
    {
      pool::SeatGuard seat(fs.pool);
      if (!seat.ok()) return pool::no_seat(fs.pool);
      auto n =
          file::list_names(fs, *seat, directory, cookie, batch.data(), batch.size(), whiteouts);
      if (!n.ok()) return n.status();
      count = *n;
    }
    if (count == 0) return Status();
    for (size_t i = 0; i < count; ++i) CAIRN_TRY(visit(batch[i]));
    cookie = batch[count - 1].cookie;
  }
}

inline std::string name_of(const file::Listed& listed) { return {listed.name, listed.length}; }

// The unit of the slot that holds a listed name and its witness.
inline uint64_t unit_of(const file::Listed& listed) { return listed.unit; }

}  // namespace cairn::tier
