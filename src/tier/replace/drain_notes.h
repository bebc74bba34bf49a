// Notes in the pool, and in the state of a drain, what the drain changes and finds in lower.
#pragma once

#include <string>

#include "tier/replace/drain_state.h"

namespace cairn::tier {

// Does set_witness() for a name in a directory that the drain is in. ENOENT also if the directory
// was removed meanwhile.
Status remember(DrainState& state, const DrainDirectory& where, const std::string& name,
                const file::Witness* witness);

// Called before a name of this file is removed or replaced, or another one is made: that changes
// the ctime under its other names.
void announce_links(DrainState& state, const sys::FileStat& st);
// Notes that this directory of lower holds an entry that the pool does not know, so it is not
// removed with its contents.
void note_unknown_entry(DrainState& state, uint64_t directory);

}  // namespace cairn::tier
