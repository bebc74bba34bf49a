#include "checkpoint/array/array_view.h"

#include <algorithm>

namespace cairn::checkpoint {
namespace {

using Strides = std::array<int64_t, max_dimensions>;

constexpr int64_t most_bytes = int64_t{1} << 62;

// Stores the strides of contiguous elements.
Status contiguous(const ArrayShape& shape, int64_t element, Strides* strides) {
  int64_t bytes = element;
  for (unsigned i = 0; i < shape.dimensions; ++i) {
    const unsigned k = shape.is_fortran ? i : shape.dimensions - 1 - i;
    (*strides)[k] = bytes;
    const int64_t extent = std::max<int64_t>(shape.extent[k], 1);
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > most_bytes)
      return fail(EOVERFLOW, "array: more than 2^62 bytes");
  }
  return Status();
}

// Returns the absolute value, also of the least number, whose negation is not an int64_t.
uint64_t width(int64_t stride) {
  const auto bytes = static_cast<uint64_t>(stride);
  return stride < 0 ? 0 - bytes : bytes;
}

// Sorts the array's dimensions from the widest stride to the narrowest. Equal strides, which
// dimensions of one element may have, keep the order of contiguous arrays.
Order by_stride(const ArrayShape& shape, const Strides& strides) {
  Order order{};
  for (unsigned i = 0; i < shape.dimensions; ++i)
    order[i] = static_cast<uint8_t>(shape.is_fortran ? shape.dimensions - 1 - i : i);
  std::stable_sort(order.begin(), order.begin() + shape.dimensions,
                   [&](uint8_t a, uint8_t b) { return width(strides[a]) > width(strides[b]); });
  return order;
}

// Checks that each dimension steps over everything inside of it.
Status check_strides(const ArrayShape& shape, const Strides& strides, const Order& order,
                     int64_t element) {
  int64_t inside = element;  // bytes from the begin of the first element to the end of the last
  for (unsigned i = shape.dimensions; i-- != 0;) {
    const unsigned k = order[i];
    if (shape.extent[k] <= 1) continue;
    if (strides[k] == INT64_MIN || width(strides[k]) < static_cast<uint64_t>(inside))
      return fail(EINVAL, "array: stride of dimension %u: %lld; at least %lld bytes lie inside", k,
                  static_cast<long long>(strides[k]), static_cast<long long>(inside));
    int64_t more = 0;
    if (__builtin_mul_overflow(width(strides[k]), shape.extent[k] - 1, &more) ||
        __builtin_add_overflow(inside, more, &inside) || inside > most_bytes)
      return fail(EOVERFLOW, "array: more than 2^62 bytes");
  }
  return Status();
}

}  // namespace

Result<ArrayView> ArrayView::make(const ArrayShape& shape) {
  ArrayView view;
  view.type_ = shape.type;
  view.element_size_ = shape.element_size;
  const TypeTraits* const traits = traits_of(shape.type);
  if (view.element_size_ == 0 && traits != nullptr) view.element_size_ = traits->size;
  CAIRN_TRY(check_element(view.type_, view.element_size_));
  if (shape.dimensions > max_dimensions)
    return fail(EOVERFLOW, "array: %u dimensions; at most %u", shape.dimensions, max_dimensions);
  const unsigned d = shape.dimensions;
  view.dimensions_ = d;
  const auto is_zero = [](auto value) { return value == 0; };
  Order axis = plain_order();
  if (!std::all_of(shape.axis.begin(), shape.axis.begin() + d, is_zero)) axis = shape.axis;
  if (!is_order(axis, d))
    return fail(EINVAL, "array: axis: names a dimension twice, or one beyond the last");
  Extents extents{};
  bool has_elements = true;
  for (unsigned k = 0; k < d; ++k) {
    const int64_t halo = int64_t{shape.halo_low[k]} + shape.halo_high[k];
    if (shape.extent[k] < 0)
      return fail(EINVAL, "array: extent of dimension %u: %lld", k,
                  static_cast<long long>(shape.extent[k]));
    extents[k] = static_cast<uint64_t>(shape.extent[k]);
    if (shape.extent[k] == 0) has_elements = false;
    if (shape.extent[k] != 0 && shape.extent[k] < halo)
      return fail(EINVAL, "array: extent of dimension %u: %lld; its halo has %lld", k,
                  static_cast<long long>(shape.extent[k]), static_cast<long long>(halo));
  }
  if (!volume(whole_of(d, extents))) return fail(EOVERFLOW, "array: more than 2^62 elements");
  const auto element = static_cast<int64_t>(view.element_size_);
  Strides strides = shape.stride;
  const bool is_contiguous = std::all_of(strides.begin(), strides.begin() + d, is_zero);
  if (is_contiguous) CAIRN_TRY(contiguous(shape, element, &strides));
  // Contiguous dimensions keep the language's order, also if a dimension of one element makes a
  // tie.
  const Order order = by_stride(shape, strides);
  if (has_elements) CAIRN_TRY(check_strides(shape, strides, order, element));
  for (unsigned k = 0; k < d; ++k) {
    const unsigned global = axis[k];
    const uint64_t halo = uint64_t{shape.halo_low[k]} + shape.halo_high[k];
    view.count_[global] = extents[k] < halo ? 0 : extents[k] - halo;
    view.stride_[global] = strides[k];
    view.halo_low_[global] = shape.halo_low[k];
    view.halo_high_[global] = shape.halo_high[k];
    view.order_[k] = axis[order[k]];
  }
  return view;
}

int64_t ArrayView::first() const {
  int64_t bytes = 0;
  for (unsigned k = 0; k < dimensions_; ++k) bytes += stride_[k] * halo_low_[k];
  return bytes;
}

Runs ArrayView::inner(const Order& order) const { return part({}, count_, order); }

Runs ArrayView::part(const Places& offset, const Extents& count, const Order& order) const {
  Strided what;
  what.dimensions = dimensions_;
  for (unsigned k = 0; k < dimensions_; ++k) {
    const unsigned global = order[k];
    what.count[k] = count[global];
    what.stride[k] = stride_[global];
    what.first += stride_[global] * (offset[global] + halo_low_[global]);
  }
  return Runs(what, element_size_);
}

bool has_counts(const ArrayView& view, const Box& box) {
  return view.dimensions() == box.dimensions &&
         std::equal(box.count.begin(), box.count.begin() + box.dimensions, view.counts().begin());
}

}  // namespace cairn::checkpoint
