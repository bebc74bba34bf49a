#include "checkpoint/array/runs.h"

namespace cairn::checkpoint {

Order plain_order() {
  Order order;
  for (uint8_t k = 0; k < max_dimensions; ++k) order[k] = k;
  return order;
}

bool is_order(const Order& order, unsigned dimensions) {
  uint32_t seen = 0;
  for (unsigned k = 0; k < dimensions; ++k) {
    if (order[k] >= dimensions || (seen >> order[k] & 1) != 0) return false;
    seen |= 1U << order[k];
  }
  return true;
}

Runs::Runs(const Strided& what, uint64_t element) : offset_(what.first), size_(element) {
  for (unsigned k = 0; k < what.dimensions; ++k)
    if (what.count[k] == 0) is_over_ = true;
  if (is_over_) return;
  // The loop starts at the fastest dimension: a dimension that continues the one inside it becomes
  // a part of it.
  unsigned kept = 0;
  Extents count{};
  std::array<int64_t, max_dimensions> stride{};
  for (unsigned k = what.dimensions; k-- != 0;) {
    if (what.count[k] == 1) continue;
    if (kept == 0 && what.stride[k] == static_cast<int64_t>(size_)) {
      size_ *= what.count[k];
    } else if (kept != 0 &&
               what.stride[k] == stride[kept - 1] * static_cast<int64_t>(count[kept - 1])) {
      count[kept - 1] *= what.count[k];
    } else {
      count[kept] = what.count[k];
      stride[kept] = what.stride[k];
      ++kept;
    }
  }
  dimensions_ = kept;
  for (unsigned k = 0; k < kept; ++k) {
    count_[k] = count[kept - 1 - k];
    stride_[k] = stride[kept - 1 - k];
  }
}

bool Runs::next(Run* run) {
  if (is_over_) return false;
  *run = {offset_, size_};
  for (unsigned k = dimensions_; k-- != 0;) {
    if (++at_[k] < count_[k]) {
      offset_ += stride_[k];
      return true;
    }
    offset_ -= stride_[k] * static_cast<int64_t>(count_[k] - 1);
    at_[k] = 0;
  }
  is_over_ = true;
  return true;
}

Runs runs_in(const Box& outer, const Box& inner, const Order& order) {
  Strided what;
  what.dimensions = outer.dimensions;
  int64_t stride = 1;
  for (unsigned k = outer.dimensions; k-- != 0;) {
    const unsigned dimension = order[k];
    what.count[k] = inner.count[dimension];
    what.stride[k] = stride;
    what.first += stride * static_cast<int64_t>(inner.offset[dimension] - outer.offset[dimension]);
    stride *= static_cast<int64_t>(outer.count[dimension]);
  }
  return Runs(what, 1);
}

}  // namespace cairn::checkpoint
