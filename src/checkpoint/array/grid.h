// Grid: an array cut through in each dimension, one piece a rank. A few words say for all ranks
// what boxes would say for each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkpoint/array/box.h"
#include "checkpoint/array/box_table.h"
#include "checkpoint/array/runs.h"

namespace cairn::checkpoint {

// How one dimension is cut.
struct Cut {
  uint64_t extent = 0;
  uint32_t pieces = 1;
  std::vector<uint64_t> starts;  // pieces + 1, the last is the extent; empty: evenly

  [[nodiscard]] uint64_t start(uint32_t piece) const;
  // The piece that holds an element.
  [[nodiscard]] uint32_t piece_of(uint64_t element) const;
  friend bool operator==(const Cut&, const Cut&) = default;
};

struct Grid {
  unsigned dimensions = 0;
  std::vector<Cut> cuts;  // by dimension
  Order order{};          // the dimensions, that of the slowest rank coordinate first

  [[nodiscard]] Box box_of(uint32_t rank) const;
  friend bool operator==(const Grid&, const Grid&) = default;
};

// The grid that the boxes are, if they are one: those of ranks 0, 1, ... in this order.
std::optional<Grid> find_grid(const BoxTable& boxes, const Extents& extents);

}  // namespace cairn::checkpoint
