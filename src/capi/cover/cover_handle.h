// Defines cairn_cover for the files of the C API that take one.
#pragma once

#include <memory>

#include "tier/cover/cover.h"

struct cairn_cover {
  std::unique_ptr<cairn::tier::Cover> cover;
};

namespace cairn::capi {

// EPERM: the process is root's, and the pool is another user's. The pool says which owner, mode and
// place a file gets. Root does that for its own pools only.
Status refuse_pool_of_other(const tier::Cover& cover);
// Finishes what a job that is over has left half done, unless processes use the cover: a job that
// lives finishes its own.
Status finish_renamings_before_drain(const tier::Cover& cover);
// Notes that a drain has come to its end, whether or not it could do everything, and returns
// `drained`.
Status note_end(tier::Cover& cover, const Status& drained);

}  // namespace cairn::capi
