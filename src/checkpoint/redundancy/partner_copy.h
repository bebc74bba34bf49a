// PartnerCopy: stores copies of other nodes' parts in this node's pool, for level PARTNER.
#pragma once

#include "checkpoint/write/writer.h"

namespace cairn::checkpoint {

// Stores the copies. Called by all ranks of all nodes while no version is open; `known`: of this
// run, and committed. Each leader requests the parts whose copies its node holds according to
// writer->partners(), and stores them. All their bytes are compared with their checksums in place
// before they count. 0 means that all nodes durably hold their copies; the writer then knows.
// Existing copies stay. ENOSPC. EUCLEAN: a part is damaged, or the records of its node and of
// another one differ. Other errors come from the node that has the part. The text names a node that
// holds no copy.
Status copy_to_partners(Run* run, SlotCache* slot_cache, Writer* writer, KnownVersion known);

}  // namespace cairn::checkpoint
