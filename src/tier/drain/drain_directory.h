// Drains directories themselves: makes them in lower.
#pragma once

#include <optional>

#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"

namespace cairn::tier {

// Makes sure that lower has the directory. False: it has not, and a report was made. `witness`: of
// the directory there.
bool drain_directory(const DrainName& item, std::optional<file::Witness>* witness);

}  // namespace cairn::tier
