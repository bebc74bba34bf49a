// LowerCopy: one version in lower, with all of its parts, and the check of their bytes.
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

// Reads the first valid manifest of the version, with its decision. EUCLEAN, ENOENT: none is valid.
// EPROTONOSUPPORT, and the errors of the file system.
Result<Manifest> open_manifest(const LowerSet& lower, uint64_t sequence);

// Opens a version and verifies everything except its parts. EUCLEAN, ENOENT: it is damaged.
// EPROTONOSUPPORT, and the errors of the file system.
Result<LowerCopy> open_copy(const LowerSet& lower, uint64_t sequence);

// Opens a part of the version that `manifest` belongs to, and verifies everything except its bytes.
// Errors as open_copy().
Result<LowerPart> open_part(const LowerSet& lower, const Manifest& manifest,
                            const Contents& contents, uint32_t part);

// Returns the uuid of the set in lower, from one of its two records, else from its versions. Errors
// as open_copy().
Result<Uuid> set_in_lower(const LowerSet& lower);

// Returns true if lower lists this version. Its bytes may be damaged.
bool is_listed(const LowerSet& lower, const VersionRecord& version);

// Read the bytes of a part, or of all parts, and compare them with their checksums.
Status check_part(const LowerPart& part, const Contents& contents, Stop stop = nullptr);
Status check_data(const LowerSet& lower, const LowerCopy& copy, Stop stop = nullptr);

// Returns true if an error of these functions says that the copy is damaged. Any other error proves
// nothing about the copy.
bool is_damage(Status status);

}  // namespace cairn::checkpoint
