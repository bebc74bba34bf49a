// Boxes: each rank has a box of the global array. The boxes tile the array or, with an owner rule,
// cover it. Boxes that form a grid are stored as one.
#include "checkpoint/array/box_table.h"
#include "checkpoint/array/distribution.h"
#include "checkpoint/array/grid.h"
#include "checkpoint/array/tiling.h"

namespace cairn::checkpoint {
namespace {

Status does_not_tile(const Tiling& tiling) {
  switch (tiling.fault) {
    case TilingFault::none:
      return Status();
    case TilingFault::gap:
      return fail(EINVAL, "decomposition: no rank has elements %s", shown(tiling.where).c_str());
    case TilingFault::overlap:
      return fail(EINVAL,
                  "decomposition: ranks %u and %u both have elements %s; give an owner rule",
                  tiling.first, tiling.second, shown(tiling.where).c_str());
    case TilingFault::irregular:
      break;
  }
  return fail(EOVERFLOW, "decomposition: boxes are too irregular to check");
}

Status check_boxes(const BoxTable& boxes, uint32_t ranks, const Box& whole) {
  for (uint64_t i = 0; i < boxes.size(); ++i) {
    const uint32_t rank = boxes.rank(i);
    const Box box = boxes.box(i);
    if (rank >= ranks || (i != 0 && rank <= boxes.rank(i - 1)))
      return fail(EINVAL, "decomposition: box %llu: rank %u of %u does not ascend",
                  static_cast<unsigned long long>(i), rank, ranks);
    if (!fits(box, whole.count))
      return fail(EINVAL, "decomposition: box of rank %u: %s is not in %s", rank,
                  shown(box).c_str(), shown(whole).c_str());
    if (is_empty(box)) return fail(EINVAL, "decomposition: box of rank %u: no elements", rank);
  }
  return Status();
}

class BoxPartition final : public Partition {
 public:
  BoxPartition(const BoxTable& boxes, Owner owner) : boxes_(boxes), owner_(owner) {}

  [[nodiscard]] Section section_of(uint32_t rank) const override {
    uint64_t from = 0;
    uint64_t to = boxes_.size();
    while (from < to) {
      const uint64_t middle = from + (to - from) / 2;
      if (boxes_.rank(middle) < rank) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    const bool is_found = from < boxes_.size() && boxes_.rank(from) == rank;
    return checkpoint::section_of(is_found ? boxes_.box(from) : Box{boxes_.dimensions(), {}, {}});
  }
  [[nodiscard]] std::vector<uint32_t> holders_of(const Section& wanted) const override {
    // Boxes come by ascending rank, so the one that counts comes last. A box that has all of
    // `wanted` covers those before, whose ranks may be on other hosts.
    std::vector<uint32_t> holders;
    const uint64_t size = boxes_.size();
    for (uint64_t n = 0; n < size; ++n) {
      const uint64_t i = owner_ == Owner::lowest_rank ? size - 1 - n : n;
      const Box box = boxes_.box(i);
      if (!intersects(box, wanted)) continue;
      if (has_all(box, wanted)) holders.clear();
      holders.push_back(boxes_.rank(i));
    }
    return holders;
  }

 private:
  BoxTable boxes_;
  Owner owner_;
};

class BoxDistribution final : public Distribution {
 public:
  Status take(const GivenDistribution& given, const ArrayView& view,
              DistributedArray* array) const override {
    if (given.owner > static_cast<uint32_t>(Owner::highest_rank))
      return fail(EINVAL, "invalid owner rule %u", given.owner);
    array->owner = static_cast<Owner>(given.owner);
    return Distribution::take(given, view, array);
  }
  Status check(const ArrayView& view, DistributedArray* array) const override {
    const unsigned d = array->whole.dimensions;
    CAIRN_TRY(check_shape(view, array->whole));
    if (d == 0) return fail(EINVAL, "a scalar has no blocks; CAIRN_REPLICATED");
    Box& box = array->box;
    box.dimensions = d;
    box.count = view.counts();
    // A rank without elements gets an empty box, wherever its box was.
    if (is_empty(box)) box = {d, {}, {}};
    return check_box(view, *array);
  }
  [[nodiscard]] bool has_halo() const override { return true; }
  [[nodiscard]] bool stores(uint32_t /*rank*/) const override { return true; }

  [[nodiscard]] Result<std::vector<uint8_t>> join(
      const DistributedArray& /*array*/, uint32_t /*ranks*/,
      const std::vector<RankBox>& parts) const override {
    std::vector<uint8_t> entries;
    for (const auto& [rank, box] : parts)
      if (!is_empty(box)) append_box(&entries, rank, box);
    return entries;
  }
  [[nodiscard]] Result<DecompositionBody> encode(
      const DistributedArray& array, uint32_t ranks,
      const std::vector<uint8_t>& entries) const override {
    const unsigned d = array.whole.dimensions;
    if (d == 0) return fail(EINVAL, "decomposition: boxes of 0 dimensions");
    const BoxTable boxes(entries.data(), entries.size() / box_record_bytes(d), d);
    if (array.owner == Owner::nobody && boxes.size() == ranks)
      if (const auto grid = find_grid(boxes, array.whole.count)) return encode_grid(*grid);
    DecompositionBody body;
    body.kind = DecompositionKind::boxes;
    body.owner = array.owner;
    body.entries = boxes.size();
    body.bytes = entries;
    return body;
  }

  [[nodiscard]] UsedMembers used_members() const override {
    return {.dimensions = true, .owner = true, .entries = true};
  }
  [[nodiscard]] Result<std::unique_ptr<const Partition>> parse(const DecompositionRecord& fixed,
                                                               const Box& whole,
                                                               BoundedReader* body) const override {
    const size_t record_bytes = body->position() + body->left();
    const uint8_t* const table = body->table(fixed.entries, box_record_bytes(whole.dimensions));
    if (!body->ok() || body->left() != 0 || fixed.entries > fixed.ranks)
      return fail(EINVAL, "decomposition: %llu boxes for %u ranks in %zu bytes",
                  static_cast<unsigned long long>(fixed.entries), fixed.ranks, record_bytes);
    const BoxTable boxes(table, fixed.entries, whole.dimensions);
    const auto owner = static_cast<Owner>(fixed.owner);
    CAIRN_TRY(check_boxes(boxes, fixed.ranks, whole));
    CAIRN_TRY(does_not_tile(check_tiling(boxes, whole.count, owner != Owner::nobody)));
    return {std::make_unique<const BoxPartition>(boxes, owner)};
  }
};

}  // namespace

const Distribution& boxes_distribution() {
  static const BoxDistribution boxes;
  return boxes;
}

}  // namespace cairn::checkpoint
