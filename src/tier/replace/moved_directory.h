// Finds where lower has what the pool has moved with a directory.
#pragma once

#include <string>

#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"

namespace cairn::tier {

// The path in lower of the name that had the slot `unit` - 1 of directory `parent`; "" if it is not
// known any more. `*listed`: the name that has the slot now.
std::string old_path_of(DrainState& state, uint64_t parent, uint64_t unit, file::Listed* listed);
// The path in lower of the file of an item that was renamed, alone or with a directory above it; ""
// if that is not known. `*remembered`: its witness there, as the pool remembers it.
std::string old_path_of_file(const DrainName& item, file::Witness* remembered);
// Notes in DrainState::old_paths where lower has a directory of `where` that was moved there, and
// its rights.
void note_old_path(DrainState& state, const DrainDirectory& where, const file::Listed& listed,
                   const file::Map& map);
// The directory that lower had at `path` was moved to `kept`.
void note_kept_path(DrainState& state, const std::string& path, const std::string& kept);
// Is the file unchanged since lower had it, in a directory that was moved in the pool since?
bool has_only_moved_with_directory(const DrainDirectory& where, const file::Listed& listed,
                                   const file::Map& map);

}  // namespace cairn::tier
