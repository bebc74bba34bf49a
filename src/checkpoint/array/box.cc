#include "checkpoint/array/box.h"

#include <algorithm>

namespace cairn::checkpoint {

bool is_empty(const Box& box) {
  return std::find(box.count.begin(), box.count.begin() + box.dimensions, 0) !=
         box.count.begin() + box.dimensions;
}

std::optional<uint64_t> volume(const Box& box) {
  if (is_empty(box)) return 0;
  uint64_t elements = 1;
  for (unsigned k = 0; k < box.dimensions; ++k)
    if (__builtin_mul_overflow(elements, box.count[k], &elements) || elements > max_elements)
      return std::nullopt;
  return elements;
}

bool fits(const Box& box, const Extents& extents) {
  for (unsigned k = 0; k < box.dimensions; ++k)
    if (box.offset[k] > extents[k] || box.count[k] > extents[k] - box.offset[k]) return false;
  return true;
}

Box intersection(const Box& a, const Box& b) {
  Box result{a.dimensions, {}, {}};
  for (unsigned k = 0; k < a.dimensions; ++k) {
    const uint64_t from = std::max(a.offset[k], b.offset[k]);
    const uint64_t to = std::min(a.offset[k] + a.count[k], b.offset[k] + b.count[k]);
    result.offset[k] = from;
    result.count[k] = to > from ? to - from : 0;
  }
  return result;
}

bool intersects(const Box& a, const Box& b) { return !is_empty(intersection(a, b)); }

bool contains(const Box& outer, const Box& inner) {
  for (unsigned k = 0; k < outer.dimensions; ++k)
    if (inner.offset[k] < outer.offset[k] ||
        inner.offset[k] + inner.count[k] > outer.offset[k] + outer.count[k])
      return false;
  return true;
}

std::string shown(const Box& box) {
  std::string text = "[";
  for (unsigned k = 0; k < box.dimensions; ++k) {
    if (k != 0) text += ", ";
    text += std::to_string(box.offset[k]) + ":" + std::to_string(box.offset[k] + box.count[k]);
  }
  return text + "]";
}

std::string shown_counts(unsigned dimensions, const Extents& counts) {
  std::string text;
  for (unsigned k = 0; k < dimensions; ++k)
    text += (k == 0 ? "" : " x ") + std::to_string(counts[k]);
  return text.empty() ? "a scalar" : text;
}

}  // namespace cairn::checkpoint
