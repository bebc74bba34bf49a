// Starts a run in a pool that an earlier run has left full: drains what that run left for the
// directory, so that the pool can evict it.
#pragma once

#include <functional>
#include <string>

#include "pools/pool_handle.h"
#include "runs/covers.h"

namespace cairn::cli {

// Returns open()'s cover. If the pool is full, and `drains`, drains what is left for the directory,
// then ends its cover, and tries again after each step. Otherwise throws with the command that
// makes room. The caller holds the start lock.
Cover open_with_room(const Pool& pool, const std::string& directory, bool drains,
                     const std::function<Cover()>& open);

// Has an earlier run left the pool nearly full, with undrained data of the directory? False while
// other runs use it.
bool is_left_full(const Pool& pool, const std::string& directory);

// Drains what an earlier run left for the directory, and says so.
void drain_left(const Pool& pool, const std::string& directory);

}  // namespace cairn::cli
