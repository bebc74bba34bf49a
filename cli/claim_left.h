// The claim in a covered directory (`.cairn-claim`), as far as a run has to know it that finds its pool
// gone: a claim that still names the pool says that nobody drained and ended the cover.
#pragma once

#include <string>

namespace cairn::cli {

// The path of a claim in `directory` by which this host's pool at `pool` holds it; "" if there is none.
std::string claim_left(const std::string& directory, const std::string& pool);

}  // namespace cairn::cli
