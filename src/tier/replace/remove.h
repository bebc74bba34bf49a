// Checks that a directory of lower, with all that is in it, is as the pool remembers it.
#pragma once

#include <string>

#include "tier/lower/lower.h"
#include "tier/replace/drain_state.h"

namespace cairn::tier {

// ESTALE: another directory has this name of lower, or an entry in it is, or may be, newer than the
// witness holds.
Status check_unchanged(const KnownCover& known, int directory, const std::string& name,
                       const std::string& path, const file::Witness& witness);

// Removes the directory in lower that the pool remembers under this name, with all that is in it.
// ESTALE: an entry in it has later times than the witness holds, so somebody has changed it;
// nothing was removed.
Status remove_tree(DrainState& state, const DrainDirectory& where, int directory,
                   const file::Listed& listed);
// Clears the name of such a directory for another file. Keeps the directory if it can, else removes
// it.
Status replace_tree(DrainState& state, const DrainDirectory& where, int directory,
                    const file::Listed& listed);

}  // namespace cairn::tier
