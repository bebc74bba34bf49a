// Going through the bytes of a layout that is repeated, piece by piece.
#pragma once

#include <cstdint>
#include <span>

#include "mpiio/backend/datatype/layout.h"

namespace mpiio {

// The layout is repeated every `extent` bytes from `origin` on.
class Walk {
 public:
  // Starts `skip` bytes of data into it. A layout without data has no pieces: then only offset() is
  // to be asked, the origin.
  Walk(const Layout& layout, int64_t origin, int64_t skip);
  // One run, from `origin` on.
  Walk(const Run& run, int64_t origin);
  // The piece here: where it is, and how long it goes on without a gap.
  [[nodiscard]] int64_t offset() const { return at_; }
  [[nodiscard]] int64_t length() const { return left_; }
  void advance(int64_t bytes);

 private:
  void enter_run(size_t run);
  std::span<const Run> runs_;
  int64_t extent_ = 0;
  int64_t tile_;  // where this repetition's zero lies
  size_t run_ = 0;
  int64_t piece_ = 0;  // of the run
  int64_t at_ = 0;
  int64_t left_ = 0;
};

}  // namespace mpiio
