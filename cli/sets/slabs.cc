#include "sets/slabs.h"

#include <algorithm>

namespace cairn::cli {

void for_each_slab(const std::vector<uint64_t>& shape, uint64_t most_elements,
                   const std::function<bool(const Slab& slab)>& visit) {
  uint64_t total = 1;
  for (const uint64_t extent : shape) total *= extent;
  if (total == 0) return;
  most_elements = std::max<uint64_t>(most_elements, 1);
  // Finds the dimension to be cut: the dimensions after it fit as a whole.
  size_t cut = shape.size();
  uint64_t behind = 1;
  while (cut > 0 && behind * shape[cut - 1] <= most_elements) behind *= shape[--cut];
  Slab slab;
  slab.offset.assign(shape.size(), 0);
  for (const uint64_t extent : shape) slab.count.push_back(static_cast<int64_t>(extent));
  if (cut == 0) {
    slab.elements = total;
    visit(slab);
    return;
  }
  const size_t k = cut - 1;
  const uint64_t rows = most_elements / behind;  // at least 1, and less than the extent
  for (size_t i = 0; i < k; ++i) slab.count[i] = 1;
  while (slab.first < total) {
    const auto at = static_cast<uint64_t>(slab.offset[k]);
    const uint64_t n = std::min(rows, shape[k] - at);
    slab.count[k] = static_cast<int64_t>(n);
    slab.elements = n * behind;
    if (!visit(slab)) return;
    slab.first += slab.elements;
    slab.offset[k] += static_cast<int64_t>(n);
    // Carry into the slower dimensions.
    for (size_t i = k; i > 0 && static_cast<uint64_t>(slab.offset[i]) == shape[i]; --i) {
      slab.offset[i] = 0;
      ++slab.offset[i - 1];
    }
  }
}

void for_each_run(const std::vector<uint64_t>& shape, const Slab& box,
                  const std::function<void(uint64_t first, uint64_t elements)>& visit) {
  // Dimensions from `whole` on are whole in the box; the one before makes a run longer, too.
  size_t whole = shape.size();
  uint64_t run = 1;
  while (whole > 0 && static_cast<uint64_t>(box.count[whole - 1]) == shape[whole - 1])
    run *= shape[--whole];
  if (whole > 0) run *= static_cast<uint64_t>(box.count[--whole]);
  std::vector<int64_t> at(box.offset);
  for (;;) {
    uint64_t first = 0;
    for (size_t k = 0; k < shape.size(); ++k)
      first = first * shape[k] + static_cast<uint64_t>(at[k]);
    visit(first, run);
    size_t k = whole;
    while (k > 0 && ++at[k - 1] == box.offset[k - 1] + box.count[k - 1]) {
      at[k - 1] = box.offset[k - 1];
      --k;
    }
    if (k == 0) return;
  }
}

}  // namespace cairn::cli
