#include "checkpoint/array/box_set.h"

#include <algorithm>
#include <tuple>

namespace cairn::checkpoint {
namespace {

// Orders boxes so that those that differ only in dimension k are neighbours, the one that begins
// earlier first.
bool comes_before(const Box& a, const Box& b, unsigned k) {
  for (unsigned i = 0; i < a.dimensions; ++i) {
    if (i == k) continue;
    const auto of_a = std::tie(a.offset[i], a.count[i]);
    const auto of_b = std::tie(b.offset[i], b.count[i]);
    if (of_a != of_b) return of_a < of_b;
  }
  return a.offset[k] < b.offset[k];
}

// Returns true if b continues a in dimension k, with the same extents in the others.
bool continues(const Box& a, const Box& b, unsigned k) {
  for (unsigned i = 0; i < a.dimensions; ++i)
    if (i != k && (a.offset[i] != b.offset[i] || a.count[i] != b.count[i])) return false;
  return a.offset[k] + a.count[k] == b.offset[k];
}

void join_in(std::vector<Box>* boxes, unsigned k) {
  std::sort(boxes->begin(), boxes->end(),
            [k](const Box& a, const Box& b) { return comes_before(a, b, k); });
  std::vector<Box> joined;
  for (const Box& box : *boxes) {
    if (!joined.empty() && continues(joined.back(), box, k))
      joined.back().count[k] += box.count[k];
    else
      joined.push_back(box);
  }
  *boxes = std::move(joined);
}

}  // namespace

void subtract(std::vector<Box>* boxes, const Box& hole) {
  std::vector<Box> left;
  for (Box box : *boxes) {
    const Box common = intersection(box, hole);
    if (is_empty(common)) {
      left.push_back(box);
      continue;
    }
    // Each dimension keeps the parts before and behind the hole, and passes the part between them
    // to the next one.
    for (unsigned k = 0; k < box.dimensions; ++k) {
      const uint64_t begin = common.offset[k];
      const uint64_t end = begin + common.count[k];
      const uint64_t box_end = box.offset[k] + box.count[k];
      Box part = box;
      part.count[k] = begin - box.offset[k];
      if (part.count[k] != 0) left.push_back(part);
      part.offset[k] = end;
      part.count[k] = box_end - end;
      if (part.count[k] != 0) left.push_back(part);
      box.offset[k] = begin;
      box.count[k] = common.count[k];
    }
  }
  *boxes = std::move(left);
}

void join(std::vector<Box>* boxes) {
  for (size_t before = boxes->size() + 1; boxes->size() > 1 && boxes->size() != before;) {
    before = boxes->size();
    for (unsigned k = boxes->front().dimensions; k-- != 0;) join_in(boxes, k);
  }
}

}  // namespace cairn::checkpoint
