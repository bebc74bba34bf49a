// Checks that a directory of lower, with all that is in it, is as the pool remembers it.
#pragma once

#include <string>

#include "tier/lower/lower.h"

namespace cairn::tier {

// ESTALE: another directory has this name of lower, or an entry in it is, or may be, newer than the
// witness holds.
Status check_unchanged(const Known& known, int directory, const std::string& name,
                       const std::string& path, const file::Witness& witness);

}  // namespace cairn::tier
