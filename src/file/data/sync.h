// Sync: fsync(2). On cache-line and byte media every write has persisted before it returned, so
// only stores through mappings are left to flush.
//
// On page media the page cache is written back, which happens in any order, so two things say what
// counts after a power loss: an entry keeps its mark until what it names has been written back, and
// `synced_size` follows the size only when all entries below it are without a mark. Recovery drops
// marked entries and goes back to the synced size (rebuild.cc): no size without its bytes.
// `unsynced`, in the inode and for the pool, says where there is anything to do.
#pragma once

#include "file/inode/file_system.h"
#include "file/map/settle.h"

namespace cairn::file {

Status sync_file(FileSystem& fs, const Map& map);

// Page media: makes everything durable and says so of every file. Nobody else is attached. Without
// that a pool must not be called clean: the next power loss would take what was never synced
// before.
Status sync_everything(FileSystem& fs);

// Before entries with a mark or a larger size are published.
inline void note_unsynced(FileSystem& fs, Inode& inode) {
  if (fs.pool.is_volatile || !is_page_medium(fs.pool) || inode.file.unsynced.load() != 0) return;
  if (fs.pool.state->unsynced.load() == 0) fs.pool.store(fs.pool.state->unsynced, 1);
  fs.pool.store(inode.file.unsynced, 1);
}

}  // namespace cairn::file
