#include "checkpoint/array/darray.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "checkpoint/array/process_grid.h"

namespace cairn::checkpoint {
namespace {

// Returns the number of blocks of this length in an extent, the last one possibly short: n / d
// rounded up.
uint64_t blocks_in(uint64_t extent, uint64_t length) {
  return extent / length + (extent % length != 0 ? 1 : 0);
}

bool is_spread(const DarrayRecord& one, Spread spread) {
  return one.kind == static_cast<uint32_t>(spread);
}

uint64_t block_length(const DarrayRecord& one, uint64_t extent) {
  if (one.argument != 0) return one.argument;
  if (is_spread(one, Spread::cyclic)) return 1;
  return std::max<uint64_t>(blocks_in(extent, one.processes), 1);
}

Status check_dimension(unsigned k, const DarrayRecord& one, uint64_t extent) {
  if (one.processes == 0) return fail(EINVAL, "dimension %u: 0 processes; expected at least 1", k);
  if (one.kind < static_cast<uint32_t>(Spread::block) ||
      one.kind > static_cast<uint32_t>(Spread::whole))
    return fail(EINVAL, "dimension %u: unknown distribution %u", k, one.kind);
  if (is_spread(one, Spread::whole) && one.processes != 1)
    return fail(EINVAL, "dimension %u: is not distributed, and the process grid has %u there", k,
                one.processes);
  if (is_spread(one, Spread::whole) && one.argument != 0)
    return fail(EINVAL, "dimension %u: is not distributed, and has blocks of %llu elements", k,
                static_cast<unsigned long long>(one.argument));
  if (is_spread(one, Spread::block) && one.argument != 0 &&
      blocks_in(extent, one.argument) > one.processes)
    return fail(EINVAL,
                "dimension %u: a block of %llu elements for each of %u processes; it has %llu; "
                "is it cyclic?",
                k, static_cast<unsigned long long>(one.argument), one.processes,
                static_cast<unsigned long long>(extent));
  return Status();
}

}  // namespace

Status Darray::check(const Box& whole) const {
  if (dimensions == 0 || dimensions != whole.dimensions || rank_order > 1)
    return fail(EINVAL, "block-cyclic array of %u dimensions, rank order %u", dimensions,
                rank_order);
  for (unsigned k = 0; k < dimensions; ++k) CAIRN_TRY(check_dimension(k, along[k], whole.count[k]));
  return Status();
}

Status Darray::check(const Box& whole, uint32_t ranks) const {
  CAIRN_TRY(check(whole));
  uint64_t processes = 1;
  std::string grid;
  for (unsigned k = 0; k < dimensions; ++k) {
    grid += (k == 0 ? "" : " x ") + std::to_string(along[k].processes);
    // The product is capped at 2^32.
    processes = std::min(processes * along[k].processes, uint64_t{1} << 32);
  }
  if (processes != ranks)
    return fail(EINVAL, "a process grid of %s for %u ranks", grid.c_str(), ranks);
  return Status();
}

Darray Darray::canonical(const Box& whole) const {
  Darray same{dimensions, rank_order, {}};
  unsigned divided = 0;
  for (unsigned k = 0; k < dimensions; ++k) {
    const DarrayRecord& one = along[k];
    DarrayRecord& its = same.along[k];
    const uint64_t extent = whole.count[k];
    const uint64_t even = std::max<uint64_t>(blocks_in(extent, one.processes), 1);
    const uint64_t length = std::min(block_length(one, extent), std::max<uint64_t>(extent, 1));
    its.processes = one.processes;
    if (one.processes == 1) {
      its.kind = static_cast<uint32_t>(Spread::whole);
      continue;
    }
    ++divided;
    if (length >= even) {
      its.kind = static_cast<uint32_t>(Spread::block);
      its.argument = length == even ? 0 : length;
    } else {
      its.kind = static_cast<uint32_t>(Spread::cyclic);
      its.argument = length == 1 ? 0 : length;
    }
  }
  if (divided <= 1) same.rank_order = 0;  // one coordinate has no order
  return same;
}

Order Darray::order() const {
  Order order = plain_order();
  if (rank_order == 1) std::reverse(order.begin(), order.begin() + dimensions);
  return order;
}

uint32_t Darray::holders_along(unsigned dimension, uint64_t extent) const {
  const DarrayRecord& one = along[dimension];
  const uint64_t blocks = blocks_in(extent, block_length(one, extent));
  return static_cast<uint32_t>(std::min<uint64_t>(one.processes, blocks));
}

Stripes Darray::stripes(unsigned dimension, uint64_t extent, uint32_t coordinate) const {
  const DarrayRecord& one = along[dimension];
  if (one.processes == 1) return {0, extent, 0, 0, 0};
  const uint64_t length = block_length(one, extent);
  const uint64_t blocks = blocks_in(extent, length);
  if (blocks <= one.processes) {
    const uint64_t begin = coordinate < blocks ? coordinate * length : extent;
    const uint64_t end = begin + std::min(length, extent - begin);
    return {begin, end, static_cast<int64_t>(begin), 0, 0};
  }
  // Each product is less than the extent.
  return {0, extent, static_cast<int64_t>(coordinate * length), length, length * one.processes};
}

Section Darray::section_of(const Box& whole, uint32_t rank) const {
  Section section;
  section.dimensions = dimensions;
  const Order from_slowest = order();
  for (unsigned i = dimensions; i-- != 0;) {
    const unsigned k = from_slowest[i];
    section.along[k] = stripes(k, whole.count[k], rank % along[k].processes);
    rank /= along[k].processes;
  }
  return section;
}

std::vector<uint8_t> encode_arguments(const Darray& darray) {
  static_assert(std::has_unique_object_representations_v<Darray>);
  std::vector<uint8_t> bytes;
  append_values(&bytes, &darray, 1);
  return bytes;
}

namespace {

Darray decode_arguments(const DistributedArray& array) {
  return record_at<Darray>(array.arguments.data());
}

std::string shown_grid(const Darray& darray) {
  Extents processes{};
  for (unsigned k = 0; k < darray.dimensions; ++k) processes[k] = darray.along[k].processes;
  return shown_counts(darray.dimensions, processes);
}

// Returns text such as "cyclic(64), block": a length that is not the default stands in parentheses.
std::string shown_blocks(const Darray& darray) {
  std::string text;
  for (unsigned k = 0; k < darray.dimensions; ++k) {
    const DarrayRecord& one = darray.along[k];
    text += k == 0 ? "" : ", ";
    text += is_spread(one, Spread::block)    ? "block"
            : is_spread(one, Spread::cyclic) ? "cyclic"
                                             : "whole";
    if (one.argument != 0) text += "(" + std::to_string(one.argument) + ")";
  }
  return text;
}

class DarrayPartition final : public ProcessGrid {
 public:
  DarrayPartition(const Darray& darray, const Box& whole) : darray_(darray), whole_(whole) {}

  [[nodiscard]] Section section_of(uint32_t rank) const override {
    return darray_.section_of(whole_, rank);
  }

 private:
  [[nodiscard]] Order order() const override { return darray_.order(); }
  [[nodiscard]] uint32_t processes_along(unsigned dimension) const override {
    return darray_.along[dimension].processes;
  }
  [[nodiscard]] std::pair<uint32_t, uint32_t> candidates(unsigned dimension,
                                                         const Stripes& /*wanted*/) const override {
    return {0, darray_.holders_along(dimension, whole_.count[dimension])};
  }
  [[nodiscard]] Stripes stripes(unsigned dimension, uint32_t coordinate) const override {
    return darray_.stripes(dimension, whole_.count[dimension], coordinate);
  }

  Darray darray_;
  Box whole_;
};

class DarrayDistribution final : public Distribution {
 public:
  // All ranks encode equal meanings alike.
  Status take(const GivenDistribution& given, const ArrayView& view,
              DistributedArray* array) const override;
  // All ranks together check that the array's extents are those of the rank's part.
  Status check(const ArrayView& view, DistributedArray* array) const override {
    CAIRN_TRY(check_shape(view, array->whole));
    for (unsigned k = 0; k < view.dimensions(); ++k)
      if (view.halo_low(k) != 0 || view.halo_high(k) != 0)
        return fail(EINVAL, "a block-cyclic array has no halo");
    array->box = counts_of(view);
    return Status();
  }
  [[nodiscard]] bool stores(uint32_t /*rank*/) const override { return true; }
  [[nodiscard]] Section section_of(const DistributedArray& array, uint32_t rank,
                                   uint32_t /*ranks*/) const override {
    return decode_arguments(array).section_of(array.whole, rank);
  }

  [[nodiscard]] bool is_sound(const std::vector<uint8_t>& arguments) const override {
    return arguments.size() == sizeof(Darray) &&
           record_at<Darray>(arguments.data()).dimensions <= max_dimensions;
  }
  [[nodiscard]] std::string difference(const DistributedArray& first,
                                       const DistributedArray& other) const override {
    const Darray a = decode_arguments(first);
    const Darray b = decode_arguments(other);
    if (shown_grid(a) != shown_grid(b))
      return "process grid " + shown_grid(a) + " and " + shown_grid(b);
    if (shown_blocks(a) != shown_blocks(b))
      return "blocks " + shown_blocks(a) + " and " + shown_blocks(b);
    return a.rank_order != b.rank_order ? "rank order" : "";
  }
  [[nodiscard]] Result<std::vector<uint8_t>> join(const DistributedArray& array, uint32_t ranks,
                                                  const std::vector<RankBox>& parts) const override;
  [[nodiscard]] Result<DecompositionBody> encode(
      const DistributedArray& array, uint32_t ranks,
      const std::vector<uint8_t>& /*entries*/) const override {
    const Darray darray = decode_arguments(array);
    CAIRN_TRY(darray.check(array.whole, ranks));
    const Darray same = darray.canonical(array.whole);
    DecompositionBody body;
    body.kind = DecompositionKind::darray;
    body.rank_order = static_cast<uint8_t>(same.rank_order);
    append_values(&body.bytes, same.along.data(), same.dimensions);
    return body;
  }

  [[nodiscard]] UsedMembers used_members() const override {
    return {.dimensions = true, .rank_order = true};
  }
  [[nodiscard]] Result<std::unique_ptr<const Partition>> parse(const DecompositionRecord& fixed,
                                                               const Box& whole,
                                                               BoundedReader* body) const override {
    Darray darray{whole.dimensions, fixed.rank_order, {}};
    for (unsigned k = 0; k < darray.dimensions; ++k) darray.along[k] = body->take<DarrayRecord>();
    if (!body->ok() || body->left() != 0)
      return fail(EINVAL, "decomposition: block-cyclic array of wrong length");
    CAIRN_TRY(darray.check(whole, fixed.ranks));
    return {std::make_unique<const DarrayPartition>(darray, whole)};
  }
};

Status DarrayDistribution::take(const GivenDistribution& given, const ArrayView& view,
                                DistributedArray* array) const {
  CAIRN_TRY(Distribution::take(given, view, array));
  Darray darray{array->whole.dimensions, given.rank_order, {}};
  for (unsigned k = 0; k < darray.dimensions; ++k) {
    if (given.offset[k] != 0)
      return fail(EINVAL, "dimension %u: an offset is for blocks (CAIRN_BLOCK)", k);
    if (given.block[k] < 0)
      return fail(EINVAL, "dimension %u: blocks of %lld elements", k,
                  static_cast<long long>(given.block[k]));
    // A dimension that is not distributed has no blocks, whatever their length.
    const bool is_whole = given.distribute[k] == static_cast<uint32_t>(Spread::whole);
    darray.along[k] = {given.processes[k], given.distribute[k],
                       is_whole ? 0 : static_cast<uint64_t>(given.block[k])};
  }
  if (darray.dimensions == 0) return fail(EINVAL, "a scalar is not dealt out; CAIRN_REPLICATED");
  if (!volume(array->whole)) return fail(EOVERFLOW, "more than 2^62 elements");
  CAIRN_TRY(darray.check(array->whole));
  array->arguments = encode_arguments(darray.canonical(array->whole));
  return Status();
}

// Checks that each rank has the elements that belong to its place in the process grid.
Result<std::vector<uint8_t>> DarrayDistribution::join(const DistributedArray& array, uint32_t ranks,
                                                      const std::vector<RankBox>& parts) const {
  const Darray darray = decode_arguments(array);
  const unsigned d = array.whole.dimensions;
  CAIRN_TRY(darray.check(array.whole, ranks));
  std::string wrong;
  uint32_t others = 0;
  for (const auto& [rank, part] : parts) {
    const Extents due = darray.section_of(array.whole, rank).counts();
    const Box here = whole_of(d, part.count);
    const Box there = whole_of(d, due);
    if (here == there || (is_empty(here) && is_empty(there))) continue;
    if (!wrong.empty()) {
      if (++others <= 4) wrong += ", and rank " + std::to_string(rank);
      continue;
    }
    wrong = "rank " + std::to_string(rank) + " has an array of " + shown_counts(d, part.count) +
            " elements; it is dealt " + shown_counts(d, due);
  }
  if (others != 0) wrong += others == 1 ? " has another size, too" : " have other sizes, too";
  if (others > 4) wrong += ", as have " + std::to_string(others - 4) + " more";
  if (!wrong.empty()) return fail(EINVAL, "%s", wrong.c_str());
  return std::vector<uint8_t>();
}

}  // namespace

const Distribution& darray_distribution() {
  static const DarrayDistribution darray;
  return darray;
}

}  // namespace cairn::checkpoint
