// Makes way in lower for a name of the pool.
#pragma once

#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"

namespace cairn::tier {

// May the name be replaced in lower? Way::free: yes; a directory that the pool remembers there has
// been removed. Way::not_needed: lower has the same already (take_same_special). Way::blocked:
// lower has something else there, and a conflict was reported.
enum class Way : uint8_t { free, not_needed, blocked };
Way clear_name(const DrainName& item, InLower* expected);
// Takes over what lower has under the name, if it holds no bytes and is the same (a symbolic link
// with the same target; a FIFO or socket of the same mode and owner). A drain of another node, or a
// program outside Cairn, has made it. True: the pool counts it as drained.
bool take_same_special(const DrainName& item);

}  // namespace cairn::tier
