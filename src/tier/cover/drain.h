// A drain carries what changed in a cover to lower.
//
// Three walks over the cover's tree in the pool:
//   plan     how many bytes are to be written, and whether lower has room for them; nothing is
//            changed
//   create   directories are made, files written aside, compared and renamed to their names
//   finish   from the leaves up: what was removed in the pool is removed in lower (only if
//            everything could be created and no name has changed since the plan, so that a moved
//            file is never nowhere), then directories get their modes and times
//
// Invariants
//  1. Nothing in lower is replaced or removed unless it is what the pool remembers (LowerIdentity).
//  2. A name in lower shows the old file or the whole new one. What is written aside has a name
//     that begins with ".cairn-drain-"; the next drain removes what a killed one left.
//     What a name held before while its bytes are still to be written elsewhere is kept
//     (replaced_backup.cc) until the end of a drain that could do everything: old data are in lower
//     all the time.
//  3. An inode counts as drained (Inode::drained is its ctime) only after lower has it under its
//     name. The ctime that counts is that of before the copy; whoever changes the file later moves
//     it on.
//  4. Between the rename in lower and the note in the pool a drain can be killed: the journal says
//     what was about to be renamed, so that the next one knows its own file.
#pragma once

#include "tier/changes/drain_calls.h"
#include "tier/claim/membership.h"

namespace cairn::tier {

// EIO if something failed or is in conflict, ENOSPC, ECANCELED. Where files were postponed, or
// names have changed meanwhile, no name is removed from lower: a file may have been moved from
// there.
Status drain(Cover& cover, const DrainCalls& calls, DrainReport* report);

// Notes that a drain of the cover has come to its end, whether or not it could do everything. A
// drain that was killed or stopped before that stays known (Journal::drain_begun).
Status end_drain(const Cover& cover);

}  // namespace cairn::tier
