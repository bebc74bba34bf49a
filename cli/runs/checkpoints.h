// Tells which checkpoints a pool holds (docs/format/checkpoint.md).
#pragma once

#include "pools/pool_handle.h"

namespace cairn::cli {

// Does any set have a slot? Sets whose runs committed nothing do not count.
bool holds_checkpoints(const Pool& pool);

}  // namespace cairn::cli
