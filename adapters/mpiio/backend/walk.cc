#include "mpiio/backend/walk.h"

#include <algorithm>

namespace mpiio {

Walk::Walk(const Layout& layout, int64_t origin, int64_t skip) : layout_(layout), tile_(origin) {
  if (layout.size == 0) return;
  tile_ += skip / layout.size * layout.extent;
  const int64_t within = skip % layout.size;
  const auto after =
      std::upper_bound(layout.runs.begin(), layout.runs.end(), within,
                       [](int64_t bytes, const Run& run) { return bytes < run.before; });
  enter_run(static_cast<size_t>(after - layout.runs.begin()) - 1);
  const Run& run = layout.runs[run_];
  const int64_t in_run = within - run.before;
  piece_ = in_run / run.length;
  at_ = tile_ + run.offset + piece_ * run.stride + in_run % run.length;
  left_ = run.length - in_run % run.length;
}

void Walk::enter_run(size_t run) {
  run_ = run;
  piece_ = 0;
  at_ = tile_ + layout_.runs[run].offset;
  left_ = layout_.runs[run].length;
}

void Walk::advance(int64_t bytes) {
  at_ += bytes;
  left_ -= bytes;
  if (left_ != 0) return;
  const Run& run = layout_.runs[run_];
  if (++piece_ < run.count) {
    at_ = tile_ + run.offset + piece_ * run.stride;
    left_ = run.length;
  } else if (run_ + 1 < layout_.runs.size()) {
    enter_run(run_ + 1);
  } else {
    tile_ += layout_.extent;
    enter_run(0);
  }
}

}  // namespace mpiio
