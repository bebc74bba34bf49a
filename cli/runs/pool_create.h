// Makes pools, for `cairn pool create` and `cairn run`.
#pragma once

#include <cairn/cairn.h>

#include <string>

#include "frame/config.h"
#include "pools/pool_handle.h"

namespace cairn::cli {

// Creates the pool at `path`; size and place come from the configuration.
void create_pool(const Config& config, const std::string& path, cairn_pool_options options = {});
// Attaches to the named pool, for a command that changes the pool itself: a medium that cannot be
// written to is an error.
Pool open_pool_to_change(const Config& config, const std::string& name);
// Touches all memory of the pool, with a progress bar. Returns the seconds that took.
double populate_pool(const Pool& pool);
// Attaches to the configured pool; makes it (and marks it as made by a run) if there is none. The
// caller holds a lock: ranks of one job start together, and one of them makes the pool. `lanes` is
// that of cairn_pool_options, for a pool that is made.
Pool attach_or_create(const Config& config, uint32_t lanes);

}  // namespace cairn::cli
