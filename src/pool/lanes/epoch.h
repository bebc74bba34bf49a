// Epochs: decide when a block that left a map may be taken again. Every call announces in its seat
// the epoch in which it began. Blocks cut in epoch e may be reused once each seat inside a call
// announces an epoch above e: then no process that could have seen them is still inside. A dead
// lane does not count (it is recovered); a stopped process does.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

inline uint64_t current_epoch(const Pool& pool) { return pool.state->epoch.load(); }

// Returns true if all processes have left that were inside a call in epoch `epoch` or before.
// Advances the epoch if it is still that one. `self` is not waited for; null: the caller is in no
// seat.
bool has_passed(Pool& pool, uint64_t epoch, const LocalSeat* self);

// Waits (recovering dead lanes) until no seat but `self` announces stores through the map of
// `inode`. The caller has made its shape odd with a full fence after it.
void wait_for_writers(Pool& pool, LocalSeat& self, uint64_t inode);
// Waits at most `patience_ms`. Returns false if a seat still announces them.
bool wait_for_writers(Pool& pool, LocalSeat& self, uint64_t inode, int patience_ms);

// Waits until has_passed(epoch), at most `patience_ms`. Returns false if a process stayed inside
// for longer.
bool wait_until_passed(Pool& pool, uint64_t epoch, const LocalSeat* self, int patience_ms);

}  // namespace cairn::pool
