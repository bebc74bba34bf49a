#include "mpiio/backend/datatype/walk.h"

#include <algorithm>

namespace mpiio {

Walk::Walk(const Layout& layout, int64_t origin, int64_t skip)
    : runs_(layout.runs), extent_(layout.extent), tile_(origin), at_(origin) {
  if (layout.size == 0) return;
  tile_ += skip / layout.size * layout.extent;
  const int64_t within = skip % layout.size;
  const auto after =
      std::upper_bound(layout.runs.begin(), layout.runs.end(), within,
                       [](int64_t bytes, const Run& run) { return bytes < run.before; });
  enter_run(static_cast<size_t>(after - layout.runs.begin()) - 1);
  const Run& run = runs_[run_];
  const int64_t in_run = within - run.before;
  piece_ = in_run / run.length;
  at_ = tile_ + run.offset + piece_ * run.stride + in_run % run.length;
  left_ = run.length - in_run % run.length;
}

Walk::Walk(const Run& run, int64_t origin) : runs_(&run, 1), tile_(origin) { enter_run(0); }

void Walk::enter_run(size_t run) {
  run_ = run;
  piece_ = 0;
  at_ = tile_ + runs_[run].offset;
  left_ = runs_[run].length;
}

void Walk::advance(int64_t bytes) {
  at_ += bytes;
  left_ -= bytes;
  if (left_ != 0) return;
  const Run& run = runs_[run_];
  if (++piece_ < run.count) {
    at_ = tile_ + run.offset + piece_ * run.stride;
    left_ = run.length;
  } else if (run_ + 1 < runs_.size()) {
    enter_run(run_ + 1);
  } else {
    tile_ += extent_;
    enter_run(0);
  }
}

}  // namespace mpiio
