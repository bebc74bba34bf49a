// Drains changes of a file whose bytes are in lower only.
#pragma once

#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"

namespace cairn::tier {

// Sets mode, owner, times and attributes of a file whose bytes were never staged. False: they have
// been staged, and the caller writes the file.
bool drain_lazy(const DrainName& item);

}  // namespace cairn::tier
