// Runs: lists the contiguous pieces of a strided part of memory or of a stored array, in a given
// order.
#pragma once

#include <array>
#include <cstdint>

#include "checkpoint/array/box.h"

namespace cairn::checkpoint {

// Dimensions of an array from the slowest to the fastest.
using Order = std::array<uint8_t, max_dimensions>;

// The order 0, 1, 2, ...
Order plain_order();
// Returns true if the order names each of the dimensions once.
bool is_order(const Order& order, unsigned dimensions);

// The part to walk: counts and strides, slowest dimension first. Strides have any unit.
struct Strided {
  unsigned dimensions = 0;
  Extents count{};
  std::array<int64_t, max_dimensions> stride{};
  int64_t first = 0;  // place of the first element
};

class Runs {
 public:
  struct Run {
    int64_t offset = 0;
    uint64_t size = 0;
  };
  // Starts a walk. `element`: size of an element, in the unit of the strides.
  Runs(const Strided& what, uint64_t element);

  // Returns false at the end.
  bool next(Run* run);
  // Returns the size of each run.
  [[nodiscard]] uint64_t size() const { return size_; }

 private:
  unsigned dimensions_ = 0;  // dimensions walked, all outside of a run
  Extents count_{};
  std::array<int64_t, max_dimensions> stride_{};
  Extents at_{};
  int64_t offset_ = 0;
  uint64_t size_ = 0;
  bool is_over_ = false;
};

// Returns the elements of `inner` in an array that stores `outer` in this order, as offsets in
// elements of the array. `outer` contains `inner`.
Runs runs_in(const Box& outer, const Box& inner, const Order& order);

}  // namespace cairn::checkpoint
