// The claim in a covered directory (`.cairn-claim`), as far as the commands have to know it. To a
// run that finds its pool gone, a claim that still names the pool says that nobody drained and
// ended the cover.
#pragma once

#include <string>
#include <vector>

namespace cairn::cli {

// The path of a claim in `directory` by which this host's pool at `pool` holds it; "" if there is
// none.
std::string stale_claim(const std::string& directory, const std::string& pool);

// The host and pool that cover a directory, as its claim says; empty without a claim. `here`: a
// pool of that path is on this host. It is looked for only if the claim counts (`is_followed`).
struct Claimed {
  std::string host;
  std::string pool;
  bool here = false;
  bool is_followed = false;
  unsigned owner = 0;  // the user who owns the claim
  // This host's pool at `path` covered the directory, and is not there any more.
  [[nodiscard]] bool is_lost(const std::string& path) const;
};
Claimed claim_of(const std::string& directory);

// The hosts of the job that covers `directory`, in order: those whose pools hold or have joined its
// claim.
std::vector<std::string> claiming_hosts(const std::string& directory);

}  // namespace cairn::cli
