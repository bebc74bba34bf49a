// RankWriter: stores one rank's contribution to a version: its region of the data file, an extent
// if it has counted variables, and the root that describes both.
#pragma once

#include "checkpoint/define/agreement.h"
#include "checkpoint/define/definitions.h"
#include "checkpoint/write/version_words.h"

namespace cairn::checkpoint {

// Writes the rank; the bytes are durable afterwards. Errors name the variable. EOVERFLOW: the data
// file becomes too large.
Status write_rank(const Run& run, const VersionWords& words, uint64_t sequence,
                  const Agreed& agreed, const Definitions& definitions, Slot* slot);

}  // namespace cairn::checkpoint
