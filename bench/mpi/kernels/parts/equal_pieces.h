// EqualPieces divides a rank's region into equal pieces for a kernel that measures a limit: its
// options, and the access that has moved all pieces.
#pragma once

#include <cstdint>

#include "common/arguments.h"
#include "common/report.h"

namespace kernels {

struct EqualPieces {
  int64_t block = 64 << 20;  // bytes of each rank
  int64_t piece = 1 << 20;   // bytes of one copy or call
  int passes = 1;            // times over the region in each access

  [[nodiscard]] int64_t count() const { return block / piece; }

  // -b and -t
  void take_sizes(Arguments* arguments);
  // -p
  void take_passes(Arguments* arguments);
  // Mistakes where the sizes do not fit; `most` of a piece. Cuts the block to whole pieces.
  void settle(Mistakes* mistakes, int64_t multiple, int64_t most = INT64_MAX);

  // One access by all ranks.
  [[nodiscard]] Access access(const char* name, int repetition, const Times& times) const;
};

// A line for each access, with what a piece is, such as "a copy"; then the checks.
void print_limits(const Report& report, const char* piece);

}  // namespace kernels
