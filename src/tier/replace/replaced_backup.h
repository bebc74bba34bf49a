// Keeps what a drain replaces until it has done everything.
#pragma once

#include "tier/replace/drain_state.h"

namespace cairn::tier {

// Does lower have bytes under this name, which another inode has now, that are still to be written
// elsewhere? A drain that is limited to some files has not looked for these, so it assumes that. So
// does a drain during which a file was moved.
bool is_moved_from(const DrainState& state, const DrainDirectory& where, const file::Listed& listed,
                   const file::Map& map);
// Called before a name in lower is replaced. They keep the old file until the end of a drain that
// could do everything: by a link to it, or by moving it away. False: it cannot be kept (no room for
// a directory, no links, another file system).
bool keep_linked(DrainState& state, int directory, const file::Listed& listed);
bool keep_moved(DrainState& state, const DrainDirectory& where, int directory,
                const file::Listed& listed);
// Removes all kept files, including those of earlier drains. The error names the first that cannot
// be removed.
Status end_kept(DrainState& state);

}  // namespace cairn::tier
