// Whether a directory of lower is what the pool remembers, with all that is in it.
#pragma once

#include <string>

#include "tier/lower/lower.h"

namespace cairn::tier {

// ESTALE: this name of lower is another directory, or something in it is newer than the identity
// says, or may be.
Status check_unchanged(const Known& known, int directory, const std::string& name,
                       const std::string& path, const file::LowerIdentity& identity);

}  // namespace cairn::tier
