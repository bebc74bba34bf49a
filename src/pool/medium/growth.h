// Growth: adds segments to a pool while processes are attached to it. A process that meets an
// address in a segment that it has not mapped yet maps it then (Pool::has_segment).
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

// Adds one segment of at least `bytes`; the caller holds the attach lock.
Status add_segment(Pool& pool, uint64_t bytes);

// Maps the segments that the superblock names and that are not mapped yet. The caller excludes
// other threads.
Status map_new_segments(Pool& pool);

}  // namespace cairn::pool
