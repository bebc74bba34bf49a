// Drains a file that was only moved by moving it in lower.
#pragma once

#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"

namespace cairn::tier {

// True: lower's file has the name now, or an error was reported.
bool drain_moved(const DrainName& item, InLower expected);

}  // namespace cairn::tier
