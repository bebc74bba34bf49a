// Match: finds the stored variable that each defined one is read from.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/define/definitions.h"
#include "checkpoint/layout/contents.h"

namespace cairn::checkpoint {

struct MatchedVariable {
  const std::string* name = nullptr;
  const Definition* definition = nullptr;
  uint32_t stored = 0;  // index in the layout
};

struct Matches {
  std::vector<MatchedVariable> found;
  std::vector<MatchedVariable> missing;  // optional ones
};

// Matches all variables and returns all errors together. ENODATA: required variables are missing.
// EINVAL: types or shapes differ. `may_be_larger`: defined arrays may be larger than the stored
// ones. The result is valid as long as `definitions`.
Result<Matches> match(const Definitions& definitions, const Contents& stored,
                      bool may_be_larger = false);

}  // namespace cairn::checkpoint
