// Grid: an array cut through in each dimension, one piece per rank. A few words describe all ranks,
// instead of one box for each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkpoint/array/box.h"
#include "checkpoint/array/box_table.h"
#include "checkpoint/array/distribution.h"
#include "checkpoint/array/runs.h"

namespace cairn::checkpoint {

// The cuts of one dimension.
struct Cut {
  uint64_t extent = 0;
  uint32_t pieces = 1;
  std::vector<uint64_t> starts;  // pieces + 1, the last is the extent; empty: evenly

  [[nodiscard]] uint64_t start(uint32_t piece) const;
  // Returns the piece that holds an element.
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

// Returns the grid that the boxes of ranks 0, 1, ... form in this order, if they form one.
std::optional<Grid> find_grid(const BoxTable& boxes, const Extents& extents);
// Returns what a record of the kind `grid` stores.
DecompositionBody encode_grid(const Grid& grid);

}  // namespace cairn::checkpoint
