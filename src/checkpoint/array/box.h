// Box: a rectangular part of an array, and arithmetic with boxes. All of it is safe for numbers
// that were read from a medium.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "checkpoint/record/limits.h"

namespace cairn::checkpoint {

using Extents = std::array<uint64_t, max_dimensions>;

// Elements [offset, offset + count) in each of the dimensions, slowest first. With 0 dimensions it
// is one element.
struct Box {
  unsigned dimensions = 0;
  Extents offset{};
  Extents count{};

  friend bool operator==(const Box&, const Box&) = default;
};

// The whole of an array.
inline Box whole_of(unsigned dimensions, const Extents& extents) {
  return {dimensions, {}, extents};
}

bool is_empty(const Box& box);
// Elements of the box; nothing above max_elements. An empty box has 0, whatever its other counts.
std::optional<uint64_t> volume(const Box& box);
// Does the box lie in the array? Offsets and counts may be any numbers.
bool fits(const Box& box, const Extents& extents);
// Both have the same dimensions and fit into one array.
Box intersection(const Box& a, const Box& b);
bool meet(const Box& a, const Box& b);
bool contains(const Box& outer, const Box& inner);

// For messages: "[0:4, 16:32]", ends excluded.
std::string shown(const Box& box);

}  // namespace cairn::checkpoint
