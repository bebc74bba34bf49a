// LowerCopy: one version as it is in lower, all of its parts, and the proof of their bytes.
#pragma once

#include <cstdint>

#include "checkpoint/layout/contents.h"
#include "checkpoint/sources/checked_span.h"
#include "checkpoint/sources/lower_set.h"
#include "checkpoint/store/manifest.h"
#include "checkpoint/store/set_record.h"

namespace cairn::checkpoint {

struct LowerCopy {
  Manifest manifest;  // of any part
  Contents contents;
};

struct LowerPart {
  Manifest manifest;
  LowerFile data;
};

// One manifest that is right, with its decision: that of the first such part. EUCLEAN, ENOENT: none
// is. EPROTONOSUPPORT, and the errors of the file system.
Result<Manifest> open_manifest(const LowerSet& lower, uint64_t sequence);

// All but the parts is proved. EUCLEAN, ENOENT: it is damaged. EPROTONOSUPPORT, and the errors of
// the file system.
Result<LowerCopy> open_copy(const LowerSet& lower, uint64_t sequence);

// A part of the version that `manifest` belongs to. All but its bytes is proved. Errors as above.
Result<LowerPart> open_part(const LowerSet& lower, const Manifest& manifest,
                            const Contents& contents, uint32_t part);

// The uuid of the set in lower: as one of its two records says, else as its versions say. Errors as
// above.
Result<Uuid> set_in_lower(const LowerSet& lower);

// Does lower list this version? Of its bytes that says nothing.
bool is_listed(const LowerSet& lower, const VersionRecord& version);

// Reads the bytes of a part, or of all, and compares them with their checksums.
Status check_part(const LowerPart& part, const Contents& contents, Stop stop = nullptr);
Status check_data(const LowerSet& lower, const LowerCopy& copy, Stop stop = nullptr);

// Does an error of these functions say that the copy is damaged? Any other one proves nothing of
// the copy.
bool is_damage(Status status);

}  // namespace cairn::checkpoint
