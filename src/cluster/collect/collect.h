// Collecting puts files that several nodes write together in lower, out of the parts that the
// nodes' pools hold.
//
// Nodes do not talk to each other here, and need not be there at the same time. Each comes when its
// run ends, or when `cairn drain` is called on it, and does its share. For a file at one epoch of
// its record (record.h):
//   1. Each node that holds bytes writes them, at their offsets, into the file's aside file in
//      lower, reads them back, and syncs. The first of these nodes also copies what comes from the
//      base file.
//   2. It then makes its mark: a hard link to the aside file. So a mark says whose bytes are in
//      which file. It is there whole or not at all, and as long as it is there, it cannot be taken
//      for one about another file.
//   3. A node that finds the marks of all these nodes gives the file its owner, mode and times. It
//      renames the file to its name, if what lies there still is the base file. Then it removes the
//      record, and then the marks.
//   4. A part that no record names is garbage. Its own node removes it, unless records are missing
//      or do not count.
//
// Invariants
//  1. A part stays until its bytes are in lower under the file's name, durably.
//  2. Every step can be repeated after a kill, by the same node or another one. Two nodes that do
//     step 3 concurrently do the same to the same file: the later one finds it renamed.
//  3. Nothing is collected while a process on this node may write it: a node's part does not change
//     after its mark.
#pragma once

#include <string>

#include "tier/cover/cover.h"
#include "tier/cover/drain.h"

namespace cairn::cluster {

// Adds to the report. EIO if something failed or is in conflict, ECANCELED; EAGAIN if all that this
// node holds is in lower and only other nodes are waited for, or if processes of this node still
// use the cover.
Status collect(tier::Cover& cover, const tier::DrainCalls& calls, tier::DrainReport* report);

// Whether a record in the covered directory keeps this pool from being drained though it holds no
// part: the record names bytes of this pool, or it is damaged and may name any.
bool is_held_up(file::FileSystem& fs, const std::string& directory, const std::string& cover_name);

// Before the cover's parts are thrown away: a file of which this node holds bytes can never be
// whole again, so its record is removed. The base file stays.
Status forget_parts(const tier::Cover& cover);

}  // namespace cairn::cluster
