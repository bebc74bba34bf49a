#include "checkpoint/store/set_identity.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "checkpoint/store/slots.h"

namespace cairn::checkpoint {

Result<SetRecord> record_of_versions(file::FileSystem& fs, uint64_t directory,
                                     const std::string& name) {
  CAIRN_TRY_ASSIGN(listing, list_set(fs, directory));
  std::optional<VersionRecord> first;
  for (const ListedSlot& listed : listing.slots) {
    const auto slot = Slot::open(fs, directory, listed.number);
    if (!slot.ok()) continue;
    const auto content = look_at(**slot);
    if (!content.ok() || content->state != SlotState::committed) continue;
    const VersionRecord& version = content->manifest.version();
    if (!first) first = version;
    if (std::memcmp(first->set, version.set, sizeof version.set) != 0)
      return fail(EUCLEAN, "its versions are of different sets");
    first->begun = std::min(first->begun, version.begun);
  }
  if (!first && !listing.slots.empty()) return fail(EUCLEAN, "none of its versions is right");
  if (!first) return fail(ENOENT, "it has no version");
  return make_set_record(pool_uuid(fs), name, uuid_in(*first), first->begun);
}

}  // namespace cairn::checkpoint
