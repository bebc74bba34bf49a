// In-flight slots of a seat: runs of blocks that the seat's owner is taking, freeing or releasing.
// A slot is stored before the bits change, so that a death in between loses nothing.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

// Returns an empty slot of the seat, and its number; null if all are in use.
inline format::InFlight* free_slot(format::Seat& seat, unsigned* number) {
  for (unsigned i = 0; i < format::in_flight_slots; ++i) {
    if (seat.in_flight[i].run.load_relaxed() == 0) {
      *number = i;
      return &seat.in_flight[i];
    }
  }
  return nullptr;
}

inline constexpr uint32_t no_lane = UINT32_MAX;
// Returns true if a slot of any lane but `lane` lists the block.
bool is_in_flight_elsewhere(const Pool& pool, BlockRef block, uint32_t lane);

}  // namespace cairn::pool
