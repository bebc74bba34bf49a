// CommitPart: decides on the medium that the version in a slot exists, or that it does not.
#pragma once

#include <vector>

#include "checkpoint/store/slot.h"

namespace cairn::checkpoint {

// What other nodes have to know of a part before any node decides on the version.
struct PreparedPart {
  uint64_t bytes = 0;  // of all ranks
  uint64_t begun = 0;
  uint32_t roots_crc = 0;
  uint32_t common_crc = 0;  // common_crc_of() its VERSION
};

// All ranks of this node have staged: makes the part durable. EUCLEAN: the slot holds another
// version, or a root in it is damaged.
Result<PreparedPart> prepare_part(Slot* slot, uint64_t sequence);

// The version in the slot is complete: swaps the decision to *committed* and makes it durable.
// EUCLEAN: the slot holds another version, or its decision is another one.
Status commit_slot(file::FileSystem& fs, Slot* slot, uint64_t sequence);

// A part of several: first stores what all nodes told, and makes it durable.
Status commit_part(file::FileSystem& fs, Slot* slot, uint64_t sequence,
                   const std::vector<PartRecord>& parts);

// Nobody was told of the version: it does not count, whatever its decision says.
void abort_slot(file::FileSystem& fs, Slot* slot, uint64_t sequence);

}  // namespace cairn::checkpoint
