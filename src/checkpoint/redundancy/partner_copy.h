// PartnerCopy: makes copies of other nodes' parts in this node's pool, for level PARTNER.
#pragma once

#include "checkpoint/write/writer.h"

namespace cairn::checkpoint {

// All ranks of all nodes; no version is open. `known`: of this run, and committed. Each leader asks
// for the parts of which writer->partners() say that its node holds a copy, and stores them: all
// their bytes are compared with their checksums where they lie then, before they count. 0 means
// that all nodes hold what they are to hold, durably; the writer knows it then. Copies that are
// there already stay. ENOSPC; EUCLEAN: a part is damaged, or its node says something else than the
// other one; and others of the node that has it. The text names a node that holds no copy.
Status copy_to_partners(Run* run, Shelf* shelf, Writer* writer, KnownVersion known);

}  // namespace cairn::checkpoint
