// Notes what others have put into directories of lower.
#pragma once

#include "tier/replace/drain_state.h"

namespace cairn::tier {

// If this directory of `where` has changed in lower since the pool saw it, compares its entries
// with those that the pool knows. Notes if lower does not have the directory any more.
void look_for_unknown_entries(DrainState& state, const DrainDirectory& where,
                              const file::Listed& listed, const file::Map& map);

}  // namespace cairn::tier
