// LowerCopy: one version as it is in lower, and the proof of its bytes.
#pragma once

#include <cstdint>

#include "checkpoint/layout/contents.h"
#include "checkpoint/redundancy/lower_set.h"
#include "checkpoint/store/manifest.h"

namespace cairn::checkpoint {

struct LowerCopy {
  Manifest manifest;
  Contents contents;
  LowerFile data;
};

// The manifest alone is proved, with its decision. EUCLEAN, ENOENT: it is damaged.
// EPROTONOSUPPORT, and the errors of the file system.
Result<Manifest> open_manifest(const LowerSet& lower, uint64_t sequence);

// All but the data is proved. EUCLEAN, ENOENT: it is damaged. ENOSYS: it was written on several
// nodes. EPROTONOSUPPORT, and the errors of the file system.
Result<LowerCopy> open_copy(const LowerSet& lower, uint64_t sequence);

// Does lower list this version? Of its bytes that says nothing.
bool is_listed(const LowerSet& lower, const VersionRecord& version);

// Reads all data and compares them with their checksums.
Status check_data(const LowerCopy& copy);

// Does an error of open_copy() or check_data() say that the copy is damaged? Any other one proves
// nothing of the copy.
bool is_damage(Status status);

}  // namespace cairn::checkpoint
