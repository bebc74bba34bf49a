#include "checkpoint/array/darray.h"

#include <algorithm>
#include <string>

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

}  // namespace cairn::checkpoint
