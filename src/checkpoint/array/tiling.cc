// The check cuts the array into two at a border of some box, and each part again, until one box
// covers a part. No other box may then reach into the part. A part into which no box reaches is a
// gap. Cutting at the middle border of a dimension keeps the cost near n log n for boxes of real
// programs.
#include "checkpoint/array/tiling.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace cairn::checkpoint {
namespace {

class Cutting {
 public:
  Cutting(const BoxTable& boxes, bool may_overlap)
      : boxes_(boxes),
        may_overlap_(may_overlap),
        looks_left_(1024 * (boxes.size() + 1024)),
        places_left_(4 * boxes.size() + 1024) {}

  Tiling look_at_all(const Extents& extents) {
    std::vector<uint32_t> all(static_cast<size_t>(boxes_.size()));
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    look(whole_of(boxes_.dimensions(), extents), std::move(all));
    return found_;
  }

 private:
  using Members = std::vector<uint32_t>;  // boxes that reach into a part

  [[nodiscard]] uint64_t end(uint32_t i, unsigned k) const {
    return boxes_.offset(i, k) + boxes_.count(i, k);
  }
  [[nodiscard]] bool covers(uint32_t i, const Box& part) const {
    for (unsigned k = 0; k < part.dimensions; ++k)
      if (boxes_.offset(i, k) > part.offset[k] || end(i, k) < part.offset[k] + part.count[k])
        return false;
    return true;
  }

  // Calls visit(border) for each border of a member that cuts the part.
  template <typename Visit>
  void for_each_border(const Box& part, const Members& members, unsigned k, Visit visit) const {
    const uint64_t from = part.offset[k];
    const uint64_t to = from + part.count[k];
    for (const uint32_t i : members) {
      if (const uint64_t begin = boxes_.offset(i, k); begin > from && begin < to) visit(begin);
      if (const uint64_t last = end(i, k); last > from && last < to) visit(last);
    }
  }

  // Returns the dimension with most borders inside the part; there is one.
  [[nodiscard]] unsigned dimension_to_cut(const Box& part, const Members& members) const {
    unsigned best = 0;
    uint64_t most = 0;
    for (unsigned k = 0; k < part.dimensions; ++k) {
      uint64_t borders = 0;
      for_each_border(part, members, k, [&](uint64_t /*border*/) { ++borders; });
      if (borders > most) {
        most = borders;
        best = k;
      }
    }
    return best;
  }
  [[nodiscard]] uint64_t middle_border(const Box& part, const Members& members, unsigned k) const {
    std::vector<uint64_t> borders;
    for_each_border(part, members, k, [&](uint64_t border) { borders.push_back(border); });
    const auto middle = borders.begin() + static_cast<std::ptrdiff_t>(borders.size() / 2);
    std::nth_element(borders.begin(), middle, borders.end());
    return *middle;
  }

  bool report(TilingFault fault, const Box& where, uint32_t a = 0, uint32_t b = 0) {
    found_ = {fault, where, std::min(a, b), std::max(a, b)};
    return false;
  }

  // Checks a part that a box covers.
  bool check_covered(const Box& part, const Members& members, uint32_t cover) {
    if (may_overlap_ || members.size() == 1) return true;
    const uint32_t other = members[0] == cover ? members[1] : members[0];
    return report(TilingFault::overlap, intersection(part, boxes_.box(other)), boxes_.rank(cover),
                  boxes_.rank(other));
  }

  // Returns false if `found_` has a fault. The recursion is no deeper than dimensions ×
  // log2(borders).
  bool look(const Box& part, Members members) {
    if (is_empty(part)) return true;
    if (members.empty()) return report(TilingFault::gap, part);
    if (members.size() > looks_left_) return report(TilingFault::irregular, part);
    looks_left_ -= members.size();
    for (const uint32_t i : members)
      if (covers(i, part)) return check_covered(part, members, i);

    const unsigned k = dimension_to_cut(part, members);
    const uint64_t border = middle_border(part, members, k);
    Box low = part;
    Box high = part;
    low.count[k] = border - part.offset[k];
    high.offset[k] = border;
    high.count[k] = part.count[k] - low.count[k];
    Members in_low;
    Members in_high;
    for (const uint32_t i : members) {
      if (boxes_.offset(i, k) < border) in_low.push_back(i);
      if (end(i, k) > border) in_high.push_back(i);
    }
    members = Members();
    const uint64_t waiting = in_high.size();
    if (waiting + in_low.size() > places_left_) return report(TilingFault::irregular, part);
    places_left_ -= waiting;
    if (!look(low, std::move(in_low))) return false;
    places_left_ += waiting;
    return look(high, std::move(in_high));
  }

  const BoxTable& boxes_;
  bool may_overlap_;
  uint64_t looks_left_;
  uint64_t places_left_;  // for members of parts that wait
  Tiling found_;
};

}  // namespace

Tiling check_tiling(const BoxTable& boxes, const Extents& extents, bool may_overlap) {
  return Cutting(boxes, may_overlap).look_at_all(extents);
}

}  // namespace cairn::checkpoint
