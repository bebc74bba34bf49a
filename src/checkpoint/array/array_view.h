// ArrayView: describes an array of this process: where its elements lie in memory, halo included,
// and which box of the global array they are.
#pragma once

#include <array>
#include <cstdint>

#include "base/status.h"
#include "checkpoint/array/box.h"
#include "checkpoint/array/runs.h"
#include "checkpoint/array/section.h"
#include "checkpoint/record/types.h"

namespace cairn::checkpoint {

// The array as the program describes it, unchecked.
struct ArrayShape {
  Type type = Type::opaque;
  uint64_t element_size = 0;  // 0: the type's own
  uint32_t dimensions = 0;
  bool is_fortran = false;  // without strides: the first dimension is contiguous
  std::array<int64_t, max_dimensions> extent{};  // elements, halo included
  std::array<int64_t, max_dimensions> stride{};  // bytes; all 0: contiguous
  std::array<uint16_t, max_dimensions> halo_low{};
  std::array<uint16_t, max_dimensions> halo_high{};
  std::array<uint8_t, max_dimensions> axis{};  // the global dimension; all 0: the same
};

class ArrayView {
 public:
  // Checks the shape. EINVAL: it describes no array, or elements overlap in memory. EOVERFLOW: it
  // exceeds the format, or the address space.
  static Result<ArrayView> make(const ArrayShape& shape);

  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] uint64_t element_size() const { return element_size_; }
  [[nodiscard]] unsigned dimensions() const { return dimensions_; }
  // Returns the elements without halo, by dimension of the global array.
  [[nodiscard]] const Extents& counts() const { return count_; }
  // Return the halo's widths by dimension of the global array.
  [[nodiscard]] uint64_t halo_low(unsigned dimension) const { return halo_low_[dimension]; }
  [[nodiscard]] uint64_t halo_high(unsigned dimension) const { return halo_high_[dimension]; }
  // Returns the global dimensions in the order in which they lie in memory, slowest first.
  [[nodiscard]] const Order& order() const { return order_; }
  // Return the strides in bytes by dimension of the global array, and the bytes from element (0,
  // ..., 0) of the array to the first one without halo.
  [[nodiscard]] const Places& strides() const { return stride_; }
  [[nodiscard]] int64_t first() const;
  // Returns the elements without halo, in any order of the global dimensions, as byte offsets from
  // element (0, ..., 0) of the array.
  [[nodiscard]] Runs inner(const Order& order) const;
  // Returns the elements of a part that may reach into the halo, as offsets from the first element
  // without halo, by dimension of the global array.
  [[nodiscard]] Runs part(const Places& offset, const Extents& count, const Order& order) const;

 private:
  Type type_ = Type::opaque;
  uint64_t element_size_ = 0;
  unsigned dimensions_ = 0;
  // All members are by dimension of the global array.
  Extents count_{};
  Places stride_{};
  std::array<uint16_t, max_dimensions> halo_low_{};
  std::array<uint16_t, max_dimensions> halo_high_{};
  Order order_{};
};

// Returns a box of the elements without halo, at 0.
inline Box counts_of(const ArrayView& view) { return {view.dimensions(), {}, view.counts()}; }
// Returns true if the array has as many elements without halo as the box in each dimension.
bool has_counts(const ArrayView& view, const Box& box);

}  // namespace cairn::checkpoint
