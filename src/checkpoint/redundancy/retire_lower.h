// Retirement in lower: copies that newer ones make dispensable go, after those were read.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "checkpoint/sources/checked_span.h"
#include "checkpoint/sources/lower_set.h"

namespace cairn::checkpoint {

struct LowerRetention {
  uint32_t keep = 0;           // so many versions of the newest one's line stay; 0: all
  bool drops_earlier = false;  // else the line before stays as well

  [[nodiscard]] bool removes() const { return keep != 0 || drops_earlier; }
};

// Are all bytes of this version in lower whole?
using IsWhole = std::function<bool(uint64_t sequence)>;
bool is_whole_in(const LowerSet& lower, uint64_t sequence, Stop stop = nullptr);

// Those versions of the line in lower, beside the drained one, whose bytes decide what may go.
Result<std::vector<uint64_t>> witnesses_in(const LowerSet& lower, const LowerRetention& retention,
                                           uint64_t drained);

// Removes from lower what `keep` newer versions of the newest one's line make dispensable, all of
// which are whole. One of the same number does for a version that the newest one has abandoned: a
// copy stays while it is the best of its number. The line before stays unless the retention drops
// it; lines before that one are removed once it has a whole version. Files of no version are
// removed as well, but for those that somebody may be writing. What was drained stays. Under the
// lock.
Status retire_in_lower(LowerSet* lower, const LowerRetention& retention, uint64_t drained,
                       const IsWhole& is_whole);

}  // namespace cairn::checkpoint
