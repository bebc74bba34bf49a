// Set-id bits: what a file loses of S_ISUID and S_ISGID when it is given away, as on Linux. S_ISGID
// without the group's execute bit is no right to anything; whoever is in the group keeps it.
#pragma once

#include "posix/engine.h"

namespace posix {

// The bits that a file of this state, which is no directory, loses by the caller's change.
unsigned set_ids_lost(const cairn_stat& st);

}  // namespace posix
