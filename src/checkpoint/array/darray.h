// Darray: an array that is dealt out to a grid of processes in blocks, as MPI_Type_create_darray
// and ScaLAPACK do.
#pragma once

#include <array>
#include <cstdint>

#include "base/status.h"
#include "checkpoint/array/box.h"
#include "checkpoint/array/runs.h"
#include "checkpoint/array/section.h"
#include "checkpoint/record/records.h"

namespace cairn::checkpoint {

// What becomes of a dimension (DarrayRecord::kind). The argument is the length of a block.
enum class Spread : uint32_t {
  block = 1,   // one block a process; 0: the extent divided by the processes, rounded up
  cyclic = 2,  // blocks in turn; 0: of one element
  whole = 3,   // one process has all
};

struct Darray {
  uint32_t dimensions = 0;
  uint32_t rank_order = 0;  // whose coordinate moves fastest: 0 the last dimension's, 1 the first's
  std::array<DarrayRecord, max_dimensions> along{};

  // EINVAL: it does not deal out all of this array.
  [[nodiscard]] Status check(const Box& whole) const;
  // EINVAL: or not to so many ranks.
  [[nodiscard]] Status check(const Box& whole, uint32_t ranks) const;
  // The same meaning as all ranks would say it. It has been checked.
  [[nodiscard]] Darray canonical(const Box& whole) const;

  // The dimensions, that of the slowest coordinate of ranks first.
  [[nodiscard]] Order order() const;
  // Coordinates below this one have elements of a dimension, others have none.
  [[nodiscard]] uint32_t holders_along(unsigned dimension, uint64_t extent) const;
  // What processes with this coordinate have of a dimension.
  [[nodiscard]] Stripes stripes(unsigned dimension, uint64_t extent, uint32_t coordinate) const;
  // What a rank of the grid has.
  [[nodiscard]] Section section_of(const Box& whole, uint32_t rank) const;

  friend bool operator==(const Darray&, const Darray&) = default;
};

}  // namespace cairn::checkpoint
