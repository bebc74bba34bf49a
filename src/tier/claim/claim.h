// A claim is the file `.cairn-claim` in a covered directory. It names the job, host and pool that
// cover the directory, so that two jobs do not write one directory without knowing of each other.
//
// Runs of the same job join a claim, and so do runs on the same host with the same pool; others are
// refused. A claim of this host is void when its pool is gone. It is also void when no process uses
// the pool, no run is under way in the directory, and all changes in it are drained.
//
// A claim also holds the token of the cover, which identifies the directory (same_directory.h).
// Claims that join another one take over its token, so all covers of a directory have one token.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "file/inode/file_system.h"
#include "tier/claim/claim_text.h"
#include "tier/lower/lower.h"
#include "tier/system/same_directory.h"

namespace cairn::tier {

// Is a claim with this host's name void? If that is unknown, no.
bool is_void(const Claim& claim, const Claim& own, const std::string& directory,
             HoldsData holds_data);
// Is the pool that the claim names at its path here? If that is unknown, yes.
bool pool_is_here(const Claim& claim, const Claim& own);

// Claims a directory or joins its claim. EBUSY names the holder.
struct ClaimRequest {
  std::string job;
  std::string token;          // of the cover, unless the claim that is there holds another one
  uint64_t owner = no_owner;  // a user whose claims count too
  std::string foreign;        // a token that is not taken over: of the original of this copy
  // Called before a claim of this pool gets another token than it had, or than the request gives.
  std::function<Status(const std::string& token)> before_adopting = {};
};
struct ClaimTaken {
  std::string token;
  uint64_t owner = no_owner;  // of the claim that this pool has in the directory
  // This user cannot write to the directory on this host, so there is no claim in it.
  bool is_unwritable = false;
};
Result<ClaimTaken> take_claim(file::FileSystem& fs, const std::string& directory,
                              const ClaimRequest& request);
// Reads the claims in an open directory that count. `all`: also those of other pools that have
// joined, for which it lists the whole directory. `has_own`: one is this pool's.
struct ClaimTokens {
  std::vector<std::string> tokens;
  bool has_own = false;
};
Result<ClaimTokens> believed_claims(const file::FileSystem& fs, int directory,
                                    const std::string& path, uint64_t owner, bool all);
// ELOOP if an open directory, at `path` below a covered one, has a claim that is not void: covers
// do not nest.
Status refuse_covered(const file::FileSystem& fs, int directory, const std::string& path);
// Is there a claim in the directory, void or not? A claim that cannot be read counts; another file
// of its name does not.
bool is_claimed(const std::string& directory);
// Has a directory above one that is to be covered a claim that counts: of the user, of root, or of
// that directory's owner? Other users' claims there do not count below.
bool is_claimed_above(const std::string& directory);
// The claims of other pools, mostly on other hosts, that are not void. These pools may hold changes
// of the directory, or are in use now.
Result<std::vector<Claim>> other_claims(file::FileSystem& fs, const std::string& directory);
// Removes the claim if it is this host's and pool's. `owner`: CoverRecord::owner.
Status drop_claim(const file::FileSystem& fs, const std::string& directory, uint64_t owner);
// Removes a claim whose pool is gone. ENOENT: there is no claim. EBUSY: its pool is here, or may be
// elsewhere; `forced`: it is not elsewhere.
Status free_claim(const std::string& directory, bool forced, HoldsData holds_data);

}  // namespace cairn::tier
