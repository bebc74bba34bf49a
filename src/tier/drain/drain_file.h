// Drains files, symbolic links and special files.
#pragma once

#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"

namespace cairn::tier {

// Drains a name that is not a directory's.
void drain_name(const DrainName& item);
// Is a file to be written under this name? `expected`: what lower must have there before.
bool needs_writing(const DrainName& item, InLower* expected);

}  // namespace cairn::tier
