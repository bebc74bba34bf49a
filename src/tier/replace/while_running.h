// A drain leaves files that programs use to a later one.
#pragma once

#include "tier/replace/drain_state.h"

namespace cairn::tier {

// Are files that programs are using left to a later drain?
inline bool leaves_busy_files(const DrainState& state) {
  return state.calls.while_running && !state.calls.while_running->at_end;
}
// Does the rule of this drain leave names with this mode to a later one, quiet or not?
bool is_left_to_later(const DrainState& state, DrainMode mode);
// Is the inode one that this drain is limited to, or a directory above one? True if it is not
// limited.
inline bool is_asked_for(const DrainState& state, uint64_t inode) {
  return state.calls.only == nullptr || state.calls.only->count(inode) != 0;
}
// Everything has its place in lower now. A name that moves later stays there until the next drain.
bool is_whole_so_far(const DrainState& state);

// Is the file left to a later drain, because other nodes would read it in lower, and a process that
// has it open could still write to it without their knowledge?
bool is_open_among_nodes(DrainState& state, const file::Map& map);

// Notes the files that are open now.
void note_open_files(DrainState& state);
// Is this undrained file left to a later drain? If one of its names is, so are all.
bool is_postponed(DrainState& state, const DrainDirectory& where, const file::Listed& listed,
                  const file::Map& map);
// Leaves a file, with all its names, to a later drain.
void postpone(DrainState& state, const DrainDirectory& where, const file::Map& map);

}  // namespace cairn::tier
