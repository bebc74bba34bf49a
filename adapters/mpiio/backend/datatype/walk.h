// Walk: visits the bytes of a repeated layout piece by piece.
#pragma once

#include <cstdint>
#include <span>

#include "mpiio/backend/datatype/layout.h"

namespace mpiio {

// Walks a layout that is repeated every `extent` bytes from `origin` on.
class Walk {
 public:
  // Starts after `skip` bytes of data. A layout without data has no pieces: only offset() may be
  // called then, and returns the origin.
  Walk(const Layout& layout, int64_t origin, int64_t skip);
  // Walks one run, from `origin` on.
  Walk(const Run& run, int64_t origin);
  // Return the place of the current piece, and its length without a gap.
  [[nodiscard]] int64_t offset() const { return at_; }
  [[nodiscard]] int64_t length() const { return left_; }
  void advance(int64_t bytes);

 private:
  void enter_run(size_t run);
  std::span<const Run> runs_;
  int64_t extent_ = 0;
  int64_t tile_;  // origin of this repetition
  size_t run_ = 0;
  int64_t piece_ = 0;  // within the run
  int64_t at_ = 0;
  int64_t left_ = 0;
};

}  // namespace mpiio
