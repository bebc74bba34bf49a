// ProcessGrid: the partition of an array whose ranks form a grid. In each dimension, the rank's
// coordinate alone determines which elements the rank has.
#pragma once

#include <utility>
#include <vector>

#include "checkpoint/array/distribution.h"
#include "checkpoint/array/runs.h"

namespace cairn::checkpoint {

class ProcessGrid : public Partition {
 public:
  [[nodiscard]] std::vector<uint32_t> holders_of(const Section& wanted) const final {
    const Order from_slowest = order();
    std::vector<uint32_t> holders{0};
    // The loop starts at the slowest coordinate, so that ranks ascend.
    for (unsigned i = 0; i < wanted.dimensions; ++i) {
      const unsigned k = from_slowest[i];
      const std::vector<uint32_t> here = coordinates_of(k, wanted.along[k]);
      std::vector<uint32_t> ranks;
      ranks.reserve(holders.size() * here.size());
      for (const uint32_t slower : holders)
        for (const uint32_t at : here) ranks.push_back(slower * processes_along(k) + at);
      holders = std::move(ranks);
    }
    return holders;
  }

 private:
  // Returns the dimensions, that of the slowest rank coordinate first.
  [[nodiscard]] virtual Order order() const = 0;
  [[nodiscard]] virtual uint32_t processes_along(unsigned dimension) const = 0;
  // Returns a range [from, to) that has all coordinates with elements of `wanted`.
  [[nodiscard]] virtual std::pair<uint32_t, uint32_t> candidates(unsigned dimension,
                                                                 const Stripes& wanted) const = 0;
  // Returns the elements of a dimension that processes with this coordinate hold.
  [[nodiscard]] virtual Stripes stripes(unsigned dimension, uint32_t coordinate) const = 0;

  // Returns the rank coordinates with elements of `wanted`, ascending.
  [[nodiscard]] std::vector<uint32_t> coordinates_of(unsigned dimension,
                                                     const Stripes& wanted) const {
    std::vector<uint32_t> found;
    const auto [from, to] = candidates(dimension, wanted);
    for (uint32_t at = from; at < to; ++at)
      if (intersects(stripes(dimension, at), wanted)) found.push_back(at);
    return found;
  }
};

}  // namespace cairn::checkpoint
