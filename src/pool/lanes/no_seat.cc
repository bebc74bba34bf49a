#include "pool/lanes/no_seat.h"

#include <cerrno>

namespace cairn::pool {

Status no_seat(const Pool& pool) {
  return fail(EBUSY,
              "pool %s: no free lane: at most %u concurrent processes (or groups of %u threads); a "
              "pool created with --lanes can have %u",
              pool.path.c_str(), pool.lane_count, format::seats_per_lane, format::max_lanes);
}

}  // namespace cairn::pool
