#include "checkpoint/restart/cyclic.h"

#include <algorithm>

namespace cairn::checkpoint {

Status for_each_tile(const Box& wanted, const Extents& stored, const Extents& first,
                     const std::function<Status(const Box& part, const Extents& origin)>& visit) {
  if (is_empty(wanted)) return Status();
  const unsigned d = wanted.dimensions;
  // How often the stored array lies before the part, in each dimension.
  Extents turn{};
  for (unsigned k = 0; k < d; ++k) {
    if (stored[k] == 0) return Status();
    turn[k] = wanted.offset[k] / stored[k];
  }
  for (;;) {
    Box part{d, {}, {}};
    Extents origin{};
    for (unsigned k = 0; k < d; ++k) {
      const uint64_t before = turn[k] * stored[k];
      const uint64_t begin = std::max(wanted.offset[k], before);
      const uint64_t end = std::min(wanted.offset[k] + wanted.count[k], before + stored[k]);
      part.offset[k] = begin - before;
      part.count[k] = end - begin;
      origin[k] = first[k] - before;
    }
    CAIRN_TRY(visit(part, origin));
    unsigned k = d;
    while (k > 0) {
      --k;
      if (++turn[k] * stored[k] < wanted.offset[k] + wanted.count[k]) break;
      turn[k] = wanted.offset[k] / stored[k];
      if (k == 0) return Status();
    }
    if (d == 0) return Status();
  }
}

}  // namespace cairn::checkpoint
