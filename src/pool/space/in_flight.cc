#include "pool/space/in_flight.h"

namespace cairn::pool {

bool is_in_flight_elsewhere(const Pool& pool, BlockRef block, uint32_t lane) {
  return !pool.for_each_lane([&](uint32_t l) {
    if (l == lane) return true;
    for (const format::Seat& seat : pool.lanes[l].seat) {
      for (const format::InFlight& slot : seat.in_flight) {
        const uint64_t run = slot.run.load();
        if (run == 0) continue;
        const BlockRef first = format::in_flight_first(run);
        if (block.value >= first.value && block.value < first.value + format::in_flight_count(run))
          return false;
      }
    }
    return true;
  });
}

}  // namespace cairn::pool
