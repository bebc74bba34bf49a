#include "checkpoint/array/grid.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "checkpoint/array/process_grid.h"

namespace cairn::checkpoint {
namespace {

constexpr uint32_t even_rule = 1;
constexpr uint32_t listed_rule = 2;

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

DecompositionBody encode_grid(const Grid& grid) {
  DecompositionBody body;
  body.kind = DecompositionKind::grid;
  for (const Cut& cut : grid.cuts) {
    const GridRecord fixed{cut.pieces, cut.starts.empty() ? even_rule : listed_rule};
    append_values(&body.bytes, &fixed, 1);
  }
  append_values(&body.bytes, grid.order.data(), grid.dimensions);
  body.bytes.resize(align(body.bytes.size(), 8));
  for (const Cut& cut : grid.cuts) append_values(&body.bytes, cut.starts.data(), cut.starts.size());
  return body;
}

namespace {

class GridPartition final : public ProcessGrid {
 public:
  explicit GridPartition(Grid grid) : grid_(std::move(grid)) {}

  [[nodiscard]] Section section_of(uint32_t rank) const override {
    return checkpoint::section_of(grid_.box_of(rank));
  }

 private:
  [[nodiscard]] Order order() const override { return grid_.order; }
  [[nodiscard]] uint32_t processes_along(unsigned dimension) const override {
    return grid_.cuts[dimension].pieces;
  }
  [[nodiscard]] std::pair<uint32_t, uint32_t> candidates(unsigned dimension,
                                                         const Stripes& wanted) const override {
    const Cut& cut = grid_.cuts[dimension];
    const uint64_t end = std::min(wanted.end, cut.extent);
    if (wanted.begin >= end) return {0, 0};
    return {cut.piece_of(wanted.begin), cut.piece_of(end - 1) + 1};
  }
  [[nodiscard]] Stripes stripes(unsigned dimension, uint32_t coordinate) const override {
    const uint64_t begin = grid_.cuts[dimension].start(coordinate);
    const uint64_t end = grid_.cuts[dimension].start(coordinate + 1);
    return {begin, end, static_cast<int64_t>(begin), 0, 0};
  }

  Grid grid_;
};

// No program gives a grid: boxes that form one are stored as one.
class GridDistribution final : public Distribution {
 public:
  [[nodiscard]] bool stores(uint32_t /*rank*/) const override { return true; }
  [[nodiscard]] UsedMembers used_members() const override { return {.dimensions = true}; }
  [[nodiscard]] Result<std::unique_ptr<const Partition>> parse(const DecompositionRecord& fixed,
                                                               const Box& whole,
                                                               BoundedReader* body) const override;
};

Result<std::unique_ptr<const Partition>> GridDistribution::parse(const DecompositionRecord& fixed,
                                                                 const Box& whole,
                                                                 BoundedReader* body) const {
  Grid grid{whole.dimensions, {}, {}};
  std::array<uint32_t, max_dimensions> rules{};
  uint64_t pieces = 1;
  for (unsigned k = 0; k < grid.dimensions; ++k) {
    const auto along = body->take<GridRecord>();
    rules[k] = along.rule;
    pieces *= along.pieces;  // below 2^64: both are below 2^32
    if (along.pieces == 0 || along.pieces > whole.count[k] || pieces > fixed.ranks ||
        along.rule < even_rule || along.rule > listed_rule)
      return fail(EINVAL, "decomposition: dimension %u: %u pieces, rule %u", k, along.pieces,
                  along.rule);
    grid.cuts.push_back({whole.count[k], along.pieces, {}});
  }
  if (pieces != fixed.ranks)
    return fail(EINVAL, "decomposition: %llu pieces for %u ranks",
                static_cast<unsigned long long>(pieces), fixed.ranks);
  if (const uint8_t* order = body->range(grid.dimensions))
    std::copy_n(order, grid.dimensions, grid.order.begin());
  body->align(8);
  for (unsigned k = 0; k < grid.dimensions; ++k) {
    if (rules[k] == even_rule) continue;
    Cut& cut = grid.cuts[k];
    const uint8_t* starts = body->table(uint64_t{cut.pieces} + 1, sizeof(uint64_t));
    if (starts == nullptr) break;
    cut.starts.resize(size_t{cut.pieces} + 1);
    std::memcpy(cut.starts.data(), starts, cut.starts.size() * sizeof(uint64_t));
    const auto falls =
        std::adjacent_find(cut.starts.begin(), cut.starts.end(), std::greater_equal<uint64_t>());
    if (cut.starts.front() != 0 || cut.starts.back() != cut.extent || falls != cut.starts.end())
      return fail(EINVAL, "decomposition: dimension %u: starts do not ascend to the extent", k);
  }
  if (!body->ok() || body->left() != 0 || !is_order(grid.order, grid.dimensions))
    return fail(EINVAL, "decomposition: grid of wrong length or order");
  return {std::make_unique<const GridPartition>(std::move(grid))};
}

}  // namespace

const Distribution& grid_distribution() {
  static const GridDistribution grid;
  return grid;
}

}  // namespace cairn::checkpoint
