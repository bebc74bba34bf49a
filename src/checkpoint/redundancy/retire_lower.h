// Retirement removes copies from lower that newer ones replace, after all bytes of those were read.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "checkpoint/sources/checked_span.h"
#include "checkpoint/sources/lower_set.h"

namespace cairn::checkpoint {

struct LowerRetention {
  uint32_t keep = 0;  // whole versions of the newest line that stay; 0: all stay
  bool drops_earlier =
      false;  // lines before the newest one are removed; otherwise one of them stays

  [[nodiscard]] bool removes() const { return keep != 0 || drops_earlier; }
};

// Says whether all bytes of a version in lower are whole.
using IsWhole = std::function<bool(uint64_t sequence)>;
bool is_whole_in(const LowerSet& lower, uint64_t sequence, Stop stop = nullptr);

// Returns the versions in lower, beside the drained one, that retire_in_lower() asks `is_whole`
// for.
Result<std::vector<uint64_t>> witnesses_in(const LowerSet& lower, const LowerRetention& retention,
                                           uint64_t drained);

// Removes copies from lower. Nothing is removed before the newest line has a whole version there.
// Then these are removed:
//  - versions of the line that are older than its newest `keep` whole ones;
//  - versions that the line has abandoned, if one of these has the same number, or if all of these,
//    `keep` in number, have greater ones: a copy stays while it is the best one of its number;
//  - with drops_earlier all versions of earlier lines; otherwise those of lines before the last
//    earlier one, if that one has a whole version. That line stays, with what it has abandoned.
// Files of no version are removed as well, except those that another process may be writing. The
// drained version stays. The caller holds the lock of the set.
Status retire_in_lower(LowerSet* lower, const LowerRetention& retention, uint64_t drained,
                       const IsWhole& is_whole);

}  // namespace cairn::checkpoint
