// Name changes: two counts in the pool by which a drain sees that names changed behind its back.
//
// A drain reads the counts before its first walk, and again before it removes anything from lower.
// A process raises a count before it commits the change, and holds the locks of the directories
// that it changes. So a walk that began with the raised count waits for these locks, and finds the
// change. Every other walk finds another count at its end.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

struct NameChanges {
  explicit NameChanges(const Pool& pool)
      : names(pool.state->name_changes.load()), homes(pool.state->homes_left.load()) {}
  uint64_t names;  // names that moved, came by a link, or left a whiteout
  uint64_t homes;  // names among them whose bytes in lower now are another name's
};

inline void note_name_change(Pool& pool) { pool.fetch_add(pool.state->name_changes, 1); }

// Counts that a file, not a directory, moves, gets one more name, or loses one of several.
inline void note_home_left(Pool& pool, const Inode& inode) {
  if (inode.lower_parent.load() != 0) pool.fetch_add(pool.state->homes_left, 1);
}

}  // namespace cairn::file
