// Layout: a datatype's type map, as runs of bytes.
//
// A run is `count` pieces of `length` bytes, each `stride` bytes after the one before, so a vector
// of any number of blocks is one run. Runs are in the order of the type map, which in memory need
// not be that of addresses. Displacements may be negative.
#pragma once

#include <cstdint>
#include <vector>

namespace mpiio {

struct Run {
  int64_t offset;
  int64_t length;
  int64_t stride = 0;
  int64_t count = 1;
  int64_t before = 0;  // bytes of the layout in runs before this one
  [[nodiscard]] int64_t bytes() const { return length * count; }
};

struct Layout {
  std::vector<Run> runs;
  int64_t size = 0;  // bytes of data
  int64_t lb = 0;    // lower bound and extent, as from MPI_Type_get_extent
  int64_t extent = 0;
  bool known = true;  // false: an unknown constructor made it
  // Returns true if one piece reaches from the lower bound to the upper: n of them are one piece,
  // too.
  [[nodiscard]] bool is_dense() const {
    return runs.size() == 1 && runs[0].count == 1 && runs[0].length == extent;
  }
};

}  // namespace mpiio
