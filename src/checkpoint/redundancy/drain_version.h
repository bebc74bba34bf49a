// Draining a version: a verbatim copy of its parts in lower, from which pools that have lost it get
// it back. The checksums are those of the commit. Each node copies its own part; the version has
// its record when all parts are there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkpoint/sources/checked_span.h"
#include "checkpoint/sources/lower_line.h"
#include "checkpoint/sources/lower_set.h"
#include "checkpoint/stock/catalogue.h"
#include "checkpoint/stock/shelf.h"
#include "checkpoint/store/set_file.h"

namespace cairn::checkpoint {

// A part that a slot of this pool holds, as long as this object.
struct DrainedPart {
  Slot* slot = nullptr;
  Lease lease;
  Manifest manifest;
  Contents contents;
  std::optional<LowerFile> aside;  // the copy of its data, which has no name yet

  [[nodiscard]] const VersionRecord& version() const { return manifest.version(); }
};

// ESTALE: the slot holds another version by now. EUCLEAN: it is damaged.
Result<DrainedPart> open_drained(const SetFile& set, Slot* slot, uint64_t sequence);

// May the version stand in lower? Then its layout and that of the set are there afterwards, and no
// record of another version of its sequence. EEXIST: lower has another set of this name, or whole
// versions of another line (check_line()). Under the lock of lower.
Status begin_drain(const SetFile& set, const Catalogue& catalogue, const UsedSequences& used,
                   const DrainedPart& part, LowerSet* lower);

// Copies the part's data aside, syncs, reads all bytes back and compares them with their checksums.
// Nothing is copied where the part is in lower already and whole. EUCLEAN: the part is damaged, or
// lower changed the bytes. ECANCELED.
Status copy_aside(DrainedPart* part, LowerSet* lower, Stop stop = nullptr);
// Gives the copy its name, and then its manifest.
Status name_part(DrainedPart* part, LowerSet* lower);
// What was not named is removed.
void drop_aside(std::vector<DrainedPart>* parts, LowerSet* lower);

// The version gets its record if all of its parts are there, each of which was read back before it
// got its name. The number of parts that are missing. Under the lock.
Result<uint32_t> complete_drain(const SetFile& set, const DrainedPart& part, bool is_changed,
                                LowerSet* lower);

// When the version reached GLOBAL. For reports, so a pool that is only looked at may miss it.
Status note_global(const SetFile& set, Slot* slot);

}  // namespace cairn::checkpoint
