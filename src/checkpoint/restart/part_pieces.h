// PartPieces: finds the elements of a variable that a part of a version has, for programs that
// write the parts of several hosts to one file.
#pragma once

#include <vector>

#include "checkpoint/restart/stored_version.h"

namespace cairn::checkpoint {

// Returns disjoint boxes, as few as the ranks' blocks allow. The pieces of all parts make up the
// whole array: where boxes of ranks overlap, an element belongs to the part whose rank counts.
// `variable` is not counted. EHOSTDOWN: the part is not here, and only it names its ranks.
Result<std::vector<Box>> part_pieces(StoredVersion* stored, uint32_t variable, uint32_t part);

}  // namespace cairn::checkpoint
