// CommonSet: lets the nodes of a run agree on the set that they use.
#pragma once

#include <optional>
#include <string>

#include "checkpoint/run/exchange.h"

namespace cairn::checkpoint {

// Returns the uuid of the set `name`: the one that a pool has, else the one that a leader found in
// lower, else `fresh`. Collective over all ranks of all nodes. EUCLEAN: two pools have different
// sets of this name, or two leaders found different ones.
Result<Uuid> agree_on_set(Exchange* exchange, bool is_leader, file::FileSystem& fs,
                          const std::string& name, const std::optional<Uuid>& in_lower,
                          const Uuid& fresh);

}  // namespace cairn::checkpoint
