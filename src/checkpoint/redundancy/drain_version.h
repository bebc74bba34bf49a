// Draining a version: a verbatim copy of its part in lower, from which a pool that has lost it gets
// it back. The checksums are those of the commit.
#pragma once

#include <cstdint>

#include "checkpoint/redundancy/lower_set.h"
#include "checkpoint/store/set_file.h"
#include "checkpoint/version/catalogue.h"
#include "checkpoint/version/shelf.h"

namespace cairn::checkpoint {

// Copies, syncs, reads all bytes back and compares them with their checksums; only then the version
// has its record in lower, and the slot its time of GLOBAL. A copy that is there already stays if
// all its bytes are whole; a damaged one is replaced. EUCLEAN: the version itself is damaged, or
// lower changed the bytes. EEXIST: lower has another set of this name, or whole versions of another
// line (check_line()). ENOSYS: it was written on several nodes. Under the lock of lower.
Status drain_version(const SetFile& set, Slot* slot, const Catalogue& catalogue, uint64_t last,
                     uint64_t sequence, LowerSet* lower);

// Removes from lower what `keep` newer versions of the newest one's line make dispensable, all of
// which are read now and are whole. One does for a version that the newest one has abandoned. Files
// of no version go as well. What was drained stays. Under the lock.
Status retire_in_lower(LowerSet* lower, uint32_t keep, uint64_t drained);

}  // namespace cairn::checkpoint
