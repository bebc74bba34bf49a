// The end of a drain: removals, and the rights and times of directories.
#pragma once

#include "tier/replace/drain_state.h"

namespace cairn::tier {

void finish(DrainState& state, const DrainDirectory& top);

}  // namespace cairn::tier
