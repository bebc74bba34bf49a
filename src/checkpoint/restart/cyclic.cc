#include "checkpoint/restart/cyclic.h"

#include <algorithm>

namespace cairn::checkpoint {

Status for_each_tile(const Section& wanted, const Extents& stored,
                     const std::function<Status(const Section& part)>& visit) {
  if (is_empty(wanted)) return Status();
  const unsigned d = wanted.dimensions;
  // The number of stored arrays before the part, in each dimension.
  Extents turn{};
  for (unsigned k = 0; k < d; ++k) {
    if (stored[k] == 0) return Status();
    turn[k] = wanted.along[k].begin / stored[k];
  }
  for (;;) {
    Section part = wanted;
    for (unsigned k = 0; k < d; ++k) {
      const uint64_t before = turn[k] * stored[k];
      Stripes& along = part.along[k];
      along.begin = std::max(along.begin, before) - before;
      along.end = std::min(along.end, before + stored[k]) - before;
      along.first -= static_cast<int64_t>(before);
    }
    CAIRN_TRY(visit(part));
    unsigned k = d;
    while (k > 0) {
      --k;
      if (++turn[k] * stored[k] < wanted.along[k].end) break;
      turn[k] = wanted.along[k].begin / stored[k];
      if (k == 0) return Status();
    }
    if (d == 0) return Status();
  }
}

}  // namespace cairn::checkpoint
