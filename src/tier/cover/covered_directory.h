// Whether the path of a cover still leads to the directory that was covered.
#pragma once

#include <cstdint>
#include <string>

#include "tier/claim/membership.h"
#include "tier/cover/cover_options.h"
#include "tier/record/record.h"
#include "tier/system/system.h"

namespace cairn::tier {

// Whether the path of a cover still leads to the covered directory.
enum class Covered : uint8_t {
  same,
  unclaimed,  // the same, but its claim is missing
  unknown,    // the cover is of an earlier version, and there is no claim
  other,      // another directory
  gone,       // no directory
  copy,       // another directory, with a copy of the claim
};
// A claim that says the cover's token is enough: for a directory that a user has named as the place
// where the covered one was moved to. Never `copy`.
Result<Covered> look_at_covered(const file::FileSystem& fs, const CoverRecord& record,
                                const std::string& path);
// Before a drain: ESTALE if it is another directory, or none, and the pool keeps something for the
// covered one. A claim that is missing is written again.
Status confirm_covered(const Cover& cover, const Notice& notice);
// Before a drain to the path of the cover that a user has asked for in so many words: a copy of the
// covered directory takes its place.
Status accept_covered(const Cover& cover, const Notice& notice);
// The covered directory, for a drain, which works on this descriptor (O_PATH) whatever has the path
// by then. None if it is another one or gone, and nothing is to be drained to it; ESTALE if
// something is.
struct OpenCovered {
  sys::Descriptor directory;
  uint64_t owner = no_owner;  // CoverRecord::owner
};
Result<OpenCovered> open_covered(const Cover& cover);
bool is_another(Covered found);
// ESTALE, with what the pool keeps: what is said of a directory that is not the covered one any
// more.
Status refuse_other(file::FileSystem& fs, const std::string& path, Covered found);
// The directory at the path of the cover. Nobody has said that it is the covered one, and `cp -a`
// copies the claim: on a local file system it has to be of the same time of creation as well, which
// no user can set. The numbers of devices change.
Result<Covered> look_at_path(const file::FileSystem& fs, const CoverRecord& record,
                             uint64_t* device = nullptr);
// Claims the directory, and completes the record with what says which one it is.
Status claim_for(file::FileSystem& fs, const std::string& path, bool is_known, CoverRecord* record,
                 const std::string& foreign = {});
// Parts whose records went with `.cairn` are told from those that no record names any more.
Status note_lost_records(file::FileSystem& fs, const std::string& path, CoverRecord* record);
void tell_claimed_again(Covered found, const std::string& path, const Notice& notice);

}  // namespace cairn::tier
