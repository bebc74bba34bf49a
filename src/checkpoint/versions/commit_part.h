// CommitPart: decides on the medium that the version in a slot exists, or that it does not.
#pragma once

#include <vector>

#include "checkpoint/store/slot.h"

namespace cairn::checkpoint {

// The facts about a part that other nodes need before any node decides on the version.
struct PreparedPart {
  uint64_t bytes = 0;  // of all ranks
  uint64_t begun = 0;
  uint32_t roots_crc = 0;
  uint32_t common_crc = 0;  // common_crc_of() its VERSION
};

// Makes the part durable, after all ranks of this node have staged. EUCLEAN: the slot holds another
// version, or a root in it is damaged.
Result<PreparedPart> prepare_part(Slot* slot, uint64_t sequence);

// Commits the complete version in the slot: sets its decision to *committed* and makes it durable.
// EUCLEAN: the slot holds another version, or another decision.
Status commit_slot(file::FileSystem& fs, Slot* slot, uint64_t sequence);

// Commits one of several parts: first stores the parts of all nodes, and makes them durable.
Status commit_part(file::FileSystem& fs, Slot* slot, uint64_t sequence,
                   const std::vector<PartRecord>& parts);

// Aborts a version that no process was told of: it does not count, whatever its decision says.
void abort_slot(file::FileSystem& fs, Slot* slot, uint64_t sequence);

}  // namespace cairn::checkpoint
