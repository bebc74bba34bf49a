// Process fence: a full fence in every process, so that the side that announces often needs none.
//
// Two sides must see each other's stores (Dekker): one announces and then looks, often; the other
// changes something and then looks at the announcements, seldom. Each needs a full fence between
// its store and its loads. With process_fence() on the seldom side, a compiler barrier is enough on
// the other: the kernel makes every running thread of every registered process execute a full fence
// (membarrier(2), MEMBARRIER_CMD_GLOBAL_EXPEDITED; 0.2 us where measured, and no interrupt for CPUs
// that run something else).
#pragma once

#include "base/status.h"

namespace cairn::persist {

// Makes process_fence() reach this process; also needed in a child after fork. Returns false if the
// kernel has no such call (before Linux 4.16) or forbids it to this process (seccomp).
bool register_for_process_fence();

// Fences in all registered processes and in this thread. Fails only where registering would.
bool process_fence();

}  // namespace cairn::persist
