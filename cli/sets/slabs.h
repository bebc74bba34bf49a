// Slabs: pieces of a global array that are contiguous in a file, none larger than a buffer.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace cairn::cli {

struct Slab {
  std::vector<int64_t> offset;  // by dimension of the array
  std::vector<int64_t> count;
  uint64_t first = 0;  // its first element, in the order of the array
  uint64_t elements = 0;
};

// Calls visit for all of them, in order, until it returns false. An array without elements has
// none.
void for_each_slab(const std::vector<uint64_t>& shape, uint64_t most_elements,
                   const std::function<bool(const Slab& slab)>& visit);

// Calls visit for each part of a box that is contiguous in the order of the array: its first
// element there, and how many. The box has elements.
void for_each_run(const std::vector<uint64_t>& shape, const Slab& box,
                  const std::function<void(uint64_t first, uint64_t elements)>& visit);

}  // namespace cairn::cli
