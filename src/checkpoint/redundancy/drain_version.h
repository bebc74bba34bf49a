// Draining a version: a verbatim copy of its part in lower, from which a pool that has lost it gets
// it back. The checksums are those of the commit.
#pragma once

#include <cstdint>

#include "checkpoint/redundancy/lower_set.h"
#include "checkpoint/store/set_file.h"
#include "checkpoint/version/shelf.h"

namespace cairn::checkpoint {

// Copies, syncs, reads all bytes back and compares them with their checksums; only then the version
// has its record in lower, and the slot its time of GLOBAL. What is there already stays. EUCLEAN:
// the version itself is damaged, or lower changed the bytes. ENOSYS: it was written on several
// nodes.
Status drain_version(const SetFile& set, Slot* slot, uint64_t sequence, LowerSet* lower);

// Removes versions from lower that the newest one there has abandoned, and those beyond the newest
// `keep`; files of no version go with them.
Status retire_in_lower(LowerSet* lower, uint32_t keep);

}  // namespace cairn::checkpoint
