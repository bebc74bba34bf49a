// Restoring: gives a set whose pool is lost its newest whole version back from lower. The parts of
// several nodes become copies in any pools of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/sources/lower_copy.h"
#include "checkpoint/sources/lower_set.h"
#include "checkpoint/store/set_file.h"
#include "checkpoint/versions/catalogue.h"
#include "checkpoint/versions/slot_cache.h"

namespace cairn::checkpoint {

struct Restored {
  int64_t number = 0;
  uint64_t sequence = 0;
  uint64_t bytes = 0;
  uint32_t skipped = 0;  // newer ones that are damaged in lower
  std::string why;       // of the newest of them
};

// Returns true if the pool, or any pool of the run, has this part of a version.
using HasPart = std::function<bool(const KnownVersion& known, uint32_t part)>;
bool has_part_here(const KnownVersion& known, uint32_t part);
bool has_part_anywhere(const KnownVersion& known, uint32_t part);
bool is_complete(const KnownVersion& known, const HasPart& has);
// Returns the newest complete version of the line; null: none is complete.
const KnownVersion* newest_complete(const Catalogue& catalogue, const HasPart& has);

// Returns the versions in lower that a run may restore, newest first: those that the newest one
// there has not abandoned, of one line with those in the pools, and newer than the newest complete
// one in the pools.
Result<std::vector<uint64_t>> wanted_of(const LowerSet& lower, const Catalogue& catalogue,
                                        const HasPart& has);

// Copies one part into a free slot of this pool and commits it. All bytes are compared with their
// checksums on the way. `locked` runs its argument under the set's lock. Returns the number of the
// slot. EUCLEAN, ENOENT: the copy is damaged. ENOSPC, and the errors of the file system.
using Locked = std::function<Status(const std::function<Status()>& work)>;
Result<uint32_t> restore_part(const SetFile& set, SlotCache* slot_cache, const LowerSet& lower,
                              const LowerCopy& copy, uint32_t part, const Locked& locked);
// Retires the restored parts of a version whose other parts are not available.
void retire_restored(const SetFile& set, SlotCache* slot_cache, const std::vector<uint32_t>& slots);
// Opens a copy that is valid except for its parts: of this set, and of the version that the pools
// have under its sequence. Errors as restore_part().
Result<LowerCopy> open_for(const SetFile& set, const Catalogue& catalogue, const LowerSet& lower,
                           uint64_t sequence);

// Restores the newest version that wanted_of() names and that is whole: the parts that this pool
// lacks. Called under the set's lock. ENOENT: there is none to restore. EUCLEAN: none is whole; the
// text has the reason. ENOSPC, and the errors of the file system.
Result<Restored> restore_newest(const SetFile& set, SlotCache* slot_cache,
                                const Catalogue& catalogue, const LowerSet& lower);
// Does what restore_newest() does, from the last line before the newest one's, for a pool that has
// no version.
Result<Restored> restore_earlier(const SetFile& set, SlotCache* slot_cache,
                                 const Catalogue& catalogue, const LowerSet& lower);

}  // namespace cairn::checkpoint
