// Moved: marks a file of which only the name has changed since lower had the same bytes. A drain
// links the file to its new name in lower, and copies nothing (tier/drain/drain_moved.cc).
//
// A rename records the file's witness in lower, its own time, and the count of folded stamps. The
// record holds while the inode has that time, that count and no stamp. Each write leaves a stamp or
// raises the count, and every other change moves the time.
#pragma once

#include "file/inode/file_system.h"
#include "file/namespace/directory.h"
#include "pool/core/redo.h"

namespace cairn::file {

// Adds the record to a rename that happens at `now` and takes the file's name in `slot` of
// `directory`. Does nothing if the file has changed since lower had the same. The caller holds the
// file's lock.
void note_move(const FileSystem& fs, pool::RedoChange& change, const Map& map, const Map& directory,
               const DirentSlot& slot, uint64_t now);

// Adds to a change that takes the name in `slot` of `directory` from an inode: lower does not have
// the inode under its own name any more, also if it gets that slot again. Does nothing if another
// name of the inode is the one that lower knows it by. The caller holds the lock of the directory.
void note_left_home(pool::RedoChange& change, Inode& inode, const Map& directory,
                    const DirentSlot& slot);

// Returns true if the record holds. A writer at work may be about to invalidate it: see
// ShapeChange.
bool has_only_moved(const Inode& inode);
// Returns the witness of lower's file at the time of the record.
Witness witness_before_move(const Inode& inode);
// Drops the record: the file may have changed although nothing shows it.
void forget_move(Pool& pool, Inode& inode);

}  // namespace cairn::file
