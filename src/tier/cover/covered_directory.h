// Tells whether the path of a cover still leads to the directory that was covered.
#pragma once

#include <cstdint>
#include <string>

#include "tier/claim/membership.h"
#include "tier/cover/cover_options.h"
#include "tier/record/record.h"
#include "tier/system/system.h"

namespace cairn::tier {

// Tells to what the path of a cover leads now.
enum class Covered : uint8_t {
  same,       // the covered directory
  unclaimed,  // the covered directory, whose claim is missing
  unknown,    // the cover is of an earlier version, and there is no claim
  other,      // another directory
  gone,       // no directory
  copy,       // another directory, with a copy of the claim
};
// Looks at a directory that a user has named as the place of the covered one. A claim with the
// cover's token is enough. Never `copy`.
Result<Covered> look_at_covered(const file::FileSystem& fs, const CoverRecord& record,
                                const std::string& path);
// Called before a drain. ESTALE: there is another directory, or none, and the pool holds undrained
// changes of the covered one. A missing claim is written again.
Status confirm_covered(const Cover& cover, const Notice& notice);
// Called before a drain to the cover's path that a user has asked for: a copy of the covered
// directory takes its place.
Status accept_covered(const Cover& cover, const Notice& notice);
// Opens the covered directory for a drain, which works on this descriptor (O_PATH) whatever happens
// to the path. None: it is gone or replaced, and nothing is to be drained to it. ESTALE: something
// is.
struct OpenCovered {
  sys::Descriptor directory;
  uint64_t owner = no_owner;  // CoverRecord::owner
  uint64_t directory_rights = 0;
};
Result<OpenCovered> open_covered(const Cover& cover);
bool is_another(Covered found);
// ESTALE, with a text that says what the pool keeps of a covered directory that is gone or
// replaced.
Status refuse_other(file::FileSystem& fs, const std::string& path, Covered found);
// Looks at the directory at the path of the cover. `cp -a` copies the claim, so on a local file
// system the directory must also have the same time of creation, which no user can set. `*device`:
// of the directory now, because device numbers change.
Result<Covered> look_at_path(const file::FileSystem& fs, const CoverRecord& record,
                             uint64_t* device = nullptr);
// Claims the directory, and notes in the record how to recognise it. False: it is read-only and has
// no claim. Drains then fail, until it can be written to.
Result<bool> claim_for(file::FileSystem& fs, const std::string& path, bool is_known,
                       CoverRecord* record, const std::string& foreign = {});
// Parts whose records went with `.cairn` are told from those that no record names any more.
Status note_lost_records(file::FileSystem& fs, const std::string& path, CoverRecord* record);
void tell_claimed_again(Covered found, const std::string& path, const Notice& notice);

}  // namespace cairn::tier
