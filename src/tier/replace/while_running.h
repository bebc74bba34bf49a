// A drain leaves files that programs use to a later one.
#pragma once

#include "tier/replace/drain_state.h"

namespace cairn::tier {

// Is the file left to a later drain, because other nodes would read it in lower, and a process that
// has it open could still write to it without their knowledge?
bool is_open_among_nodes(DrainState& state, const file::Map& map);

// Notes the files that are open now.
void note_open_files(DrainState& state);
// Is this undrained file left to a later drain? If one of its names is, so are all.
bool is_postponed(DrainState& state, const Where& where, const file::Listed& listed,
                  const file::Map& map);
// Leaves a file, with all its names, to a later drain.
void postpone(DrainState& state, const Where& where, const file::Map& map);

}  // namespace cairn::tier
