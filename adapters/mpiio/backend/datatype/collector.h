// Collector: builds a layout from pieces and from other layouts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "mpiio/backend/datatype/layout.h"

namespace mpiio {

// Builds a layout. A piece that continues the last run is added to that run.
class Collector {
 public:
  void add(const Run& run) {
    if (run.length == 0 || run.count == 0) return;
    Run next = run;
    // Pieces without a gap between them are one.
    if (next.count > 1 && next.stride == next.length) {
      next.length *= next.count;
      next.count = 1;
    }
    if (!runs_.empty() && extend(runs_.back(), next)) return;
    runs_.push_back(next);
  }
  // Adds a copy of the child.
  void add(const Layout& child, int64_t displacement) {
    bound(displacement + child.lb, displacement + child.lb + child.extent);
    for (Run run : child.runs) {
      run.offset += displacement;
      add(run);
    }
  }
  // Adds `count` copies, one after the other.
  void add_block(const Layout& child, int64_t displacement, int64_t count) {
    if (count > 0 && child.is_dense()) {
      bound(displacement + child.lb, displacement + child.lb + child.extent * count);
      add({displacement + child.runs[0].offset, child.extent * count});
      return;
    }
    repeat(child, displacement, count, child.extent);
  }
  // Adds `count` copies of the child, `stride` bytes apart.
  void repeat(const Layout& child, int64_t displacement, int64_t count, int64_t stride) {
    if (count > 0 && child.runs.size() == 1 && child.runs[0].count == 1) {
      for (const int64_t first : {displacement, displacement + (count - 1) * stride})
        bound(first + child.lb, first + child.lb + child.extent);
      add({displacement + child.runs[0].offset, child.runs[0].length, stride, count});
      return;
    }
    for (int64_t i = 0; i < count; ++i) add(child, displacement + i * stride);
  }
  void bound(int64_t lower, int64_t upper) {
    lower_ = std::min(lower_, lower);
    upper_ = std::max(upper_, upper);
  }
  Layout take() {
    Layout layout;
    for (Run& run : runs_) {
      run.before = layout.size;
      layout.size += run.bytes();
    }
    layout.runs = std::move(runs_);
    if (upper_ >= lower_) {
      layout.lb = lower_;
      layout.extent = upper_ - lower_;
    }
    return layout;
  }

 private:
  static bool extend(Run& last, const Run& next) {
    if (last.count == 1 && next.count == 1 && last.offset + last.length == next.offset) {
      last.length += next.length;
      return true;
    }
    if (last.length != next.length) return false;
    const int64_t end = last.offset + last.stride * last.count;  // where the next piece would be
    if (last.count == 1 && next.count == 1) {
      last.stride = next.offset - last.offset;
      last.count = 2;
      return true;
    }
    if (last.count > 1 && next.count == 1 && next.offset == end) {
      ++last.count;
      return true;
    }
    if (last.count > 1 && next.count > 1 && next.stride == last.stride && next.offset == end) {
      last.count += next.count;
      return true;
    }
    return false;
  }
  std::vector<Run> runs_;
  int64_t lower_ = INT64_MAX;
  int64_t upper_ = INT64_MIN;
};

}  // namespace mpiio
