// Dropping versions of a set that no run uses.
#pragma once

#include <cstdint>

#include "checkpoint/versions/catalogue.h"

namespace cairn::checkpoint {

// Frees the slots of a version, copies of other nodes' parts included, and of versions that it has
// abandoned. EBUSY: a run uses the set, or a process reads the version; the text names it. EPERM:
// no other version of the line is whole, and `may_be_last` is not set; the others are read to find
// out. Versions of several hosts do not count, unless this pool has all other parts as copies.
// ENOENT: the version was retired meanwhile.
Status drop_version(const SetFile& set, SlotCache* slot_cache, uint64_t sequence, bool may_be_last);

// Frees slots whose manifest or data are damaged. EBUSY.
Status drop_damaged(const SetFile& set, SlotCache* slot_cache);

// Removes a set with all its files. EBUSY. EPERM: it has versions, and `with_versions` is not set.
// ENOTEMPTY: its directory holds foreign files.
Status drop_set(const SetFile& set, SlotCache* slot_cache, bool with_versions);

}  // namespace cairn::checkpoint
