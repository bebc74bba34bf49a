// Restoring: a set whose pool is gone gets its newest whole version back from lower. The parts of
// several nodes come as copies into any pools of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/sources/lower_copy.h"
#include "checkpoint/sources/lower_set.h"
#include "checkpoint/stock/catalogue.h"
#include "checkpoint/stock/shelf.h"
#include "checkpoint/store/set_file.h"

namespace cairn::checkpoint {

struct Restored {
  int64_t number = 0;
  uint64_t sequence = 0;
  uint64_t bytes = 0;
  uint32_t skipped = 0;  // newer ones that are damaged in lower
  std::string why;       // of the newest of them
};

// Has the pool, or have all pools of the run, this part of a version?
using HasPart = std::function<bool(const KnownVersion& known, uint32_t part)>;
bool has_part_here(const KnownVersion& known, uint32_t part);
bool has_part_anywhere(const KnownVersion& known, uint32_t part);
bool is_complete(const KnownVersion& known, const HasPart& has);
// The newest version of the line that is complete; null: none is.
const KnownVersion* newest_complete(const Catalogue& catalogue, const HasPart& has);

// The versions in lower that a run may get back, newest first: those that the newest one there has
// not abandoned, of one line with what the pools have, and newer than what is complete in the
// pools.
Result<std::vector<uint64_t>> wanted_of(const LowerSet& lower, const Catalogue& catalogue,
                                        const HasPart& has);

// Copies one part into a free slot of this pool and commits it. All bytes are compared with their
// checksums on the way. `locked` does what it gets under the set's lock. The number of the slot.
// EUCLEAN, ENOENT: the copy is damaged. ENOSPC, and the errors of the file system.
using Locked = std::function<Status(const std::function<Status()>& work)>;
Result<uint32_t> restore_part(const SetFile& set, Shelf* shelf, const LowerSet& lower,
                              const LowerCopy& copy, uint32_t part, const Locked& locked);
// The parts of a version that cannot be had as a whole.
void retire_restored(const SetFile& set, Shelf* shelf, const std::vector<uint32_t>& slots);
// A copy that is right but for its parts, of this set, and of the version that the pools have under
// its sequence. Errors as above.
Result<LowerCopy> open_for(const SetFile& set, const Catalogue& catalogue, const LowerSet& lower,
                           uint64_t sequence);

// Gets back the newest version that wanted_of() names and that is whole: the parts that this pool
// lacks. Under the set's lock. ENOENT: there is none to get back. EUCLEAN: none is whole; the text
// says why. ENOSPC, and the errors of the file system.
Result<Restored> restore_newest(const SetFile& set, Shelf* shelf, const Catalogue& catalogue,
                                const LowerSet& lower);
// The same of the last line before the newest one's, into a pool that has no version.
Result<Restored> restore_earlier(const SetFile& set, Shelf* shelf, const Catalogue& catalogue,
                                 const LowerSet& lower);

}  // namespace cairn::checkpoint
