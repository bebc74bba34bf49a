// Darray: distributes an array over a grid of processes in blocks, as MPI_Type_create_darray and
// ScaLAPACK do.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "checkpoint/array/box.h"
#include "checkpoint/array/runs.h"
#include "checkpoint/array/section.h"
#include "checkpoint/record/records.h"

namespace cairn::checkpoint {

// The distribution of a dimension (DarrayRecord::kind). The argument is the length of a block.
enum class Spread : uint32_t {
  block = 1,   // one block a process; 0: the extent divided by the processes, rounded up
  cyclic = 2,  // blocks in turn; 0: of one element
  whole = 3,   // one process has all
};

struct Darray {
  uint32_t dimensions = 0;
  // The coordinate that moves fastest: 0 the last dimension's, 1 the first's.
  uint32_t rank_order = 0;
  std::array<DarrayRecord, max_dimensions> along{};

  // Returns EINVAL unless it distributes all of this array.
  [[nodiscard]] Status check(const Box& whole) const;
  // Returns EINVAL also unless it has so many ranks.
  [[nodiscard]] Status check(const Box& whole, uint32_t ranks) const;
  // Returns the normal form, the same for all ranks that mean the same. The darray has been
  // checked.
  [[nodiscard]] Darray canonical(const Box& whole) const;

  // Returns the dimensions, that of the slowest rank coordinate first.
  [[nodiscard]] Order order() const;
  // Returns the number of coordinates with elements of a dimension; coordinates from this one on
  // have none.
  [[nodiscard]] uint32_t holders_along(unsigned dimension, uint64_t extent) const;
  // Returns the elements of a dimension that processes with this coordinate hold.
  [[nodiscard]] Stripes stripes(unsigned dimension, uint64_t extent, uint32_t coordinate) const;
  // Returns the elements that a rank of the grid holds.
  [[nodiscard]] Section section_of(const Box& whole, uint32_t rank) const;

  friend bool operator==(const Darray&, const Darray&) = default;
};

// Encodes it as DistributedArray::arguments.
std::vector<uint8_t> encode_arguments(const Darray& darray);

}  // namespace cairn::checkpoint
