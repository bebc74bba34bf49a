// Draining a version: copies its parts verbatim to lower, from which pools that have lost them
// restore them. The checksums are those of the commit. Each node copies its own part; the version
// gets its record when all parts are there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkpoint/sources/checked_span.h"
#include "checkpoint/sources/lower_line.h"
#include "checkpoint/sources/lower_set.h"
#include "checkpoint/store/set_file.h"
#include "checkpoint/versions/catalogue.h"
#include "checkpoint/versions/slot_cache.h"

namespace cairn::checkpoint {

// A part in a slot of this pool; the slot holds it as long as this object.
struct DrainedPart {
  Slot* slot = nullptr;
  Lease lease;
  Manifest manifest;
  Contents contents;
  std::optional<LowerFile> aside;  // the copy of its data, before it has a name

  [[nodiscard]] const VersionRecord& version() const { return manifest.version(); }
};

// Opens a part. ESTALE: the slot holds another version by now. EUCLEAN: it is damaged.
Result<DrainedPart> open_drained(const SetFile& set, Slot* slot, uint64_t sequence);

// Checks that the version may be stored in lower. Then stores its layout and the set's, and removes
// a record of another version of its sequence. EEXIST: lower has another set of this name, or whole
// versions of another line (check_line()). Called under the lock of lower.
Status begin_drain(const SetFile& set, const Catalogue& catalogue, const UsedSequences& used,
                   const DrainedPart& part, LowerSet* lower);

// Copies the part's data to a temporary file, syncs, reads all bytes back and compares them with
// their checksums. Copies nothing if lower has the part whole. EUCLEAN: the part is damaged, or
// lower changed the bytes. ECANCELED.
Status copy_aside(DrainedPart* part, LowerSet* lower, Stop stop = nullptr);
// Gives the copy its name, and then its manifest.
Status name_part(DrainedPart* part, LowerSet* lower);
// Removes the copies that got no name.
void drop_aside(std::vector<DrainedPart>* parts, LowerSet* lower);

// Writes the version's record if all of its parts are there; each was read back before it got its
// name. Returns the number of missing parts. Called under the lock.
Result<uint32_t> complete_drain(const SetFile& set, const DrainedPart& part, bool is_changed,
                                LowerSet* lower);

// Records when the version reached GLOBAL. Only reports read it, so a pool attached for reading may
// lack it.
Status note_global(const SetFile& set, Slot* slot);

}  // namespace cairn::checkpoint
