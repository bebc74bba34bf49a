// Sync: fsync(2). On cache-line and byte media every write has persisted before it returned, so
// only stores through mappings are left to flush.
//
// On page media fsync writes the page cache back, in any order, so two records say what counts
// after a power loss. An entry keeps its mark until the block or node that it names has been
// written back, and `synced_size` follows the size only when all entries below it are without a
// mark. Recovery drops marked entries and goes back to the synced size (rebuild.cc): no size
// without its bytes. `unsynced`, in the inode and for the pool, says where there is anything to do.
#pragma once

#include "file/inode/file_system.h"
#include "file/map/persist_entry.h"

namespace cairn::file {

Status sync_file(FileSystem& fs, const Map& map);

// Page media: makes everything durable and records that for every file. No other process is
// attached. A pool must not be called clean before: the next power loss would lose bytes that were
// never synced.
Status sync_everything(FileSystem& fs);

// Notes that the inode has unsynced changes, before entries with a mark or a larger size are
// published.
inline void note_unsynced(FileSystem& fs, Inode& inode) {
  if (fs.pool.is_volatile || !is_page_medium(fs.pool) || inode.file.unsynced.load() != 0) return;
  if (fs.pool.state->unsynced.load() == 0) fs.pool.store(fs.pool.state->unsynced, 1);
  fs.pool.store(inode.file.unsynced, 1);
}

}  // namespace cairn::file
