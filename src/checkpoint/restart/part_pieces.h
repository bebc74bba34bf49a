// part_pieces() says which elements of a variable a part of a version has, for programs that write
// the parts of several hosts to one file.
#pragma once

#include <vector>

#include "checkpoint/restart/stored_version.h"

namespace cairn::checkpoint {

// Disjoint boxes, as few as the ranks' blocks make. The pieces of all parts are the whole array:
// where boxes of ranks overlap, an element is of the part whose rank counts. `variable` is not
// counted. EHOSTDOWN: the part is not here, and only it says whose ranks it has.
Result<std::vector<Box>> part_pieces(StoredVersion* stored, uint32_t variable, uint32_t part);

}  // namespace cairn::checkpoint
