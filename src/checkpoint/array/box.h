// Box: a rectangular part of an array, and arithmetic with boxes. All functions are safe for
// numbers that were read from a medium.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "checkpoint/record/limits.h"

namespace cairn::checkpoint {

using Extents = std::array<uint64_t, max_dimensions>;

// The elements [offset, offset + count) in each dimension, slowest first. A box of 0 dimensions is
// one element.
struct Box {
  unsigned dimensions = 0;
  Extents offset{};
  Extents count{};

  friend bool operator==(const Box&, const Box&) = default;
};

// Returns the box of a whole array.
inline Box whole_of(unsigned dimensions, const Extents& extents) {
  return {dimensions, {}, extents};
}

bool is_empty(const Box& box);
// Returns the number of elements; no value above max_elements. An empty box has 0, whatever its
// other counts.
std::optional<uint64_t> volume(const Box& box);
// Returns true if the box lies in the array. Offsets and counts may be any numbers.
bool fits(const Box& box, const Extents& extents);
// The boxes have the same dimensions and fit into one array.
Box intersection(const Box& a, const Box& b);
bool intersects(const Box& a, const Box& b);
bool contains(const Box& outer, const Box& inner);

// Formats a box for messages: "[0:4, 16:32]", ends excluded.
std::string shown(const Box& box);
// Formats extents for messages: "4 x 5", or "a scalar".
std::string shown_counts(unsigned dimensions, const Extents& counts);

}  // namespace cairn::checkpoint
