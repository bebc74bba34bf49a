// Forks of an attached process: the pool is told before and after, and the adapters' hooks run.
#pragma once

#include "cairn/cairn.h"

namespace engine {

// From now on forks are prepared, also those that libraries make by themselves.
void watch_forks(cairn_pool* pool);

}  // namespace engine
