// Restoring a set: gets versions back from lower, for a command, or when a run begins. The set in
// the pool gets the uuid of the one in lower.
#pragma once

#include <optional>
#include <string>

#include "checkpoint/redundancy/restore_version.h"
#include "checkpoint/run/run.h"
#include "checkpoint/versions/catalogue.h"
#include "checkpoint/versions/skipped.h"
#include "checkpoint/versions/slot_cache.h"

namespace cairn::checkpoint {

// Restores the newest whole version of a set, or with `is_earlier` that of the line before, into a
// pool that has no version of it. EEXIST: the pool has versions. Others as restore_newest() and
// check_unused().
Result<Restored> restore_set(file::FileSystem& fs, const std::string& name,
                             const std::string& directory, bool is_earlier);

// Returns the uuid of the set whose versions are in lower, and makes room for it in the pool; no
// value: there are none, or `directory` is empty. EEXIST: the pool has versions of another set.
Result<std::optional<Uuid>> set_of_lower(file::FileSystem& fs, const std::string& name,
                                         const std::string& directory);

// Gets a version back if the pools have none that is as new. Called by all ranks when a run begins,
// after the nodes have joined their inventories; waits for them. With `is_fresh` it only takes note
// of the sequences that are used in lower. Returns the versions there that are damaged and newer
// than what it got back.
Result<SkippedVersions> restore_at_begin(Run* run, SlotCache* slot_cache, Catalogue* catalogue,
                                         const std::string& directory, bool is_fresh);

}  // namespace cairn::checkpoint
