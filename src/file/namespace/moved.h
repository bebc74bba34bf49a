// Moved: a file of which only the name has changed since lower had the same bytes. A drain links it
// to its new name in lower, and copies nothing (tier/drain/drain_moved.cc).
//
// A rename notes the file's witness in lower, its own time, and the count of folded stamps. The
// note holds while the inode has that time, that count and no stamp: each write leaves a stamp or
// raises the count, and all other changes move the time on.
#pragma once

#include "file/inode/file_system.h"
#include "file/namespace/directory.h"
#include "pool/core/redo.h"

namespace cairn::file {

// Adds the note to a rename that happens at `now` and takes the file's name in `slot` of
// `directory`. Does nothing for a file that has changed since lower had the same. The caller holds
// the file's lock.
void note_move(const FileSystem& fs, pool::Change& change, const Map& map, const Map& directory,
               const DirentSlot& slot, uint64_t now);

// Whether the note holds. A writer that is at work right now may be about to end that: see
// ShapeChange.
bool has_only_moved(const Inode& inode);
// What lower's file was when the note was made.
Witness witness_before_move(const Inode& inode);
// The file may have changed, though nothing shows it.
void forget_move(Pool& pool, Inode& inode);

}  // namespace cairn::file
