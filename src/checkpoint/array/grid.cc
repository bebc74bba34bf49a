#include "checkpoint/array/grid.h"

#include <algorithm>

namespace cairn::checkpoint {
namespace {

// Returns the cut whose pieces begin where boxes do. No value: there are more than `most`, or the
// first does not begin at 0.
std::optional<Cut> cut_at(const BoxTable& boxes, unsigned dimension, uint64_t extent,
                          uint64_t most) {
  std::vector<uint64_t> starts(static_cast<size_t>(boxes.size()));
  for (size_t i = 0; i < starts.size(); ++i) starts[i] = boxes.offset(i, dimension);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  if (starts.front() != 0 || starts.size() > most) return std::nullopt;
  Cut even{extent, static_cast<uint32_t>(starts.size()), {}};
  bool is_even = even.pieces <= extent;
  for (uint32_t i = 0; is_even && i < even.pieces; ++i) is_even = even.start(i) == starts[i];
  if (is_even) return even;
  starts.push_back(extent);
  even.starts = std::move(starts);
  return even;
}

// Returns the dimension in which two boxes begin at different places, if there is exactly one.
std::optional<unsigned> differing(const BoxTable& boxes, uint64_t a, uint64_t b) {
  std::optional<unsigned> found;
  for (unsigned k = 0; k < boxes.dimensions(); ++k) {
    if (boxes.offset(a, k) == boxes.offset(b, k)) continue;
    if (found) return std::nullopt;
    found = k;
  }
  return found;
}

// Finds which coordinate of the ranks is the fastest, the next one, and so on.
bool find_order(const BoxTable& boxes, Grid* grid) {
  uint32_t used = 0;
  unsigned last = grid->dimensions;
  for (uint64_t stride = 1; stride < boxes.size();) {
    const auto dimension = differing(boxes, 0, stride);
    if (!dimension || (used >> *dimension & 1) != 0) return false;
    used |= 1U << *dimension;
    grid->order[--last] = static_cast<uint8_t>(*dimension);
    stride *= grid->cuts[*dimension].pieces;
  }
  // Dimensions of one piece come first.
  unsigned first = 0;
  for (unsigned k = 0; k < grid->dimensions; ++k) {
    if ((used >> k & 1) != 0) continue;
    if (first == last) return false;
    grid->order[first++] = static_cast<uint8_t>(k);
  }
  return first == last;
}

}  // namespace

uint64_t Cut::start(uint32_t piece) const {
  if (!starts.empty()) return starts[piece];
  return extent / pieces * piece + std::min<uint64_t>(piece, extent % pieces);
}

uint32_t Cut::piece_of(uint64_t element) const {
  if (!starts.empty())
    return static_cast<uint32_t>(std::upper_bound(starts.begin(), starts.end(), element) -
                                 starts.begin() - 1);
  const uint64_t size = extent / pieces;
  const uint64_t larger = extent % pieces;  // pieces that have one element more
  if (element < larger * (size + 1)) return static_cast<uint32_t>(element / (size + 1));
  return static_cast<uint32_t>(larger + (element - larger * (size + 1)) / size);
}

Box Grid::box_of(uint32_t rank) const {
  Box box{dimensions, {}, {}};
  for (unsigned i = dimensions; i-- != 0;) {
    const unsigned k = order[i];
    const uint32_t piece = rank % cuts[k].pieces;
    rank /= cuts[k].pieces;
    box.offset[k] = cuts[k].start(piece);
    box.count[k] = cuts[k].start(piece + 1) - box.offset[k];
  }
  return box;
}

std::optional<Grid> find_grid(const BoxTable& boxes, const Extents& extents) {
  if (boxes.size() == 0 || boxes.size() > UINT32_MAX || boxes.dimensions() == 0)
    return std::nullopt;
  Grid grid{boxes.dimensions(), {}, {}};
  uint64_t pieces = 1;
  for (unsigned k = 0; k < grid.dimensions; ++k) {
    auto cut = cut_at(boxes, k, extents[k], boxes.size() / pieces);
    if (!cut) return std::nullopt;
    pieces *= cut->pieces;
    grid.cuts.push_back(std::move(*cut));
  }
  if (pieces != boxes.size() || !find_order(boxes, &grid)) return std::nullopt;
  for (uint64_t i = 0; i < boxes.size(); ++i)
    if (boxes.rank(i) != i || grid.box_of(static_cast<uint32_t>(i)) != boxes.box(i))
      return std::nullopt;
  return grid;
}

}  // namespace cairn::checkpoint
