// A claim is the file `.cairn-claim` in a covered directory, which says by which job, host and pool
// it is covered, so that two of them do not write one directory without knowing of each other.
//
// Runs of the same job join a claim, and so do runs on the same host with the same pool; others are
// refused. A claim of this host is void once its pool is gone, or nobody uses the pool, no run is
// under way in the directory, and the pool holds nothing for it that is not in lower.
//
// A claim also says which directory it is (same_directory.h): the token of the cover. Claims that
// join another one take its token over, so that all covers of a directory have one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "file/inode/file_system.h"
#include "tier/claim/claim_text.h"
#include "tier/system/same_directory.h"

namespace cairn::tier {

// Whether a claim of this host's name means nothing any more. In doubt it does.
bool is_void(const Claim& claim, const Claim& own, const std::string& directory);
// Whether the pool that the claim names is where this process looks for it. In doubt it is.
bool pool_is_here(const Claim& claim, const Claim& own);

// Claims a directory or joins its claim. EBUSY names the holder.
struct ClaimRequest {
  std::string job;
  std::string token;          // in force unless the claim that is there says another one
  uint64_t owner = no_owner;  // whose claims are believed too
  std::string foreign;        // a token that is not taken over: the directory is a copy of that one
  // Called before a claim of this pool says another token than it or the request did.
  std::function<Status(const std::string& token)> before_adopting = {};
};
struct ClaimTaken {
  std::string token;
  uint64_t owner = no_owner;  // of the claim that this pool has in the directory
};
Result<ClaimTaken> take_claim(file::FileSystem& fs, const std::string& directory,
                              const ClaimRequest& request);
// What the claims in an open directory say that are believed. `all`: also those of other pools that
// have joined, for which the whole directory is listed. `has_own`: one is this pool's.
struct ClaimTokens {
  std::vector<std::string> tokens;
  bool has_own = false;
};
Result<ClaimTokens> believed_claims(const file::FileSystem& fs, int directory,
                                    const std::string& path, uint64_t owner, bool all);
// ELOOP if an open directory, at `path` below a covered one, has a claim that is not void: covers
// do not nest.
Status refuse_covered(const file::FileSystem& fs, int directory, const std::string& path);
// Whether there is a claim in it, void or not; what cannot be read is one. What only has its name
// is none.
bool is_claimed(const std::string& directory);
// Whether a claim counts in a directory above one that is to be covered: a claim of the user, of
// root, or of that directory's owner. A user who merely can write there keeps nobody out below.
bool is_claimed_above(const std::string& directory);
// What other pools say of the directory, on other hosts mostly: they may hold something for it, or
// are used in it now. Not those that are void.
Result<std::vector<Claim>> other_claims(file::FileSystem& fs, const std::string& directory);
// Removes the claim if it is this host's and pool's. `owner`: CoverRecord::owner.
Status drop_claim(const file::FileSystem& fs, const std::string& directory, uint64_t owner);
// Removes a claim whose pool is gone. ENOENT if there is no claim, EBUSY if its pool is here or may
// be elsewhere; `forced` says that it is not elsewhere.
Status free_claim(const std::string& directory, bool forced);

}  // namespace cairn::tier
