// A drain writes the changes of a cover to lower.
//
// Three walks over the cover's tree in the pool:
//   plan     how many bytes are to be written, and whether lower has room for them; nothing is
//            changed
//   create   directories are made, files written under temporary names, compared and renamed
//   finish   from the leaves up: what was removed in the pool is removed in lower (only if
//            everything could be created and no name has changed since the plan, so that a moved
//            file is never nowhere), then directories get their modes and times
//
// Invariants
//  1. Nothing in lower is replaced or removed unless it is what the pool remembers (Witness).
//  2. A name in lower shows the old file or the whole new one. Temporary files have names that
//     begin with ".cairn-drain-"; the next drain removes those of a killed one. If the bytes of a
//     replaced file are still to be written elsewhere, the file is kept (replaced_backup.cc) until
//     the end of a drain that could do everything, so that lower has them at all times.
//  3. An inode counts as drained (Inode::drained is its ctime) only after lower has it under its
//     name. The ctime is that of before the copy, and later changes of the file make it later.
//  4. A drain can be killed between the rename in lower and the note in the pool. The journal says
//     before what will be renamed, so that the next drain recognises the file as its own.
#pragma once

#include "tier/changes/drain_calls.h"
#include "tier/claim/membership.h"

namespace cairn::tier {

// EIO: a name failed or is in conflict. ENOSPC, ECANCELED. If files were postponed, or names have
// changed meanwhile, no name is removed from lower, because a file may have been moved from there.
Status drain(Cover& cover, const DrainCalls& calls, DrainReport* report);

// Notes that a drain of the cover has ended, whether or not it could do everything. A drain that
// was killed or stopped before stays known (Journal::drain_begun).
Status end_drain(const Cover& cover);

}  // namespace cairn::tier
