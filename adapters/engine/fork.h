// Tells the pool about forks of an attached process, and runs the adapters' hooks.
#pragma once

#include "cairn/cairn.h"

namespace engine {

// Prepares all forks from now on, also those that libraries make.
void watch_forks(cairn_pool* pool);

}  // namespace engine
