// Epochs: when may a block that left a map be taken again? Every call announces in its seat the
// epoch in which it began. What was cut in epoch e may be reused once each seat inside a call
// announces an epoch above e: then no process that could have seen it is still there. A dead lane
// does not count (it is recovered), a stopped process does.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

inline uint64_t current_epoch(const Pool& pool) { return pool.state->epoch.load(); }

// Have all processes left that were inside a call in epoch `epoch` or before? Moves the epoch on if
// it is still that one. `self` is not waited for; null: the caller is in no seat.
bool has_passed(Pool& pool, uint64_t epoch, const LocalSeat* self);

// Waits (recovering the dead) until no seat but `self` announces stores through the map of `inode`.
// The caller has made its shape odd with a full fence after it.
void wait_for_writers(Pool& pool, LocalSeat& self, uint64_t inode);
// Waits for at most `patience_ms`; false: a seat still announces them.
bool wait_for_writers(Pool& pool, LocalSeat& self, uint64_t inode, int patience_ms);

// Waits until has_passed(epoch), at most `patience_ms`; false if a process stayed inside for
// longer.
bool wait_until_passed(Pool& pool, uint64_t epoch, const LocalSeat* self, int patience_ms);

}  // namespace cairn::pool
