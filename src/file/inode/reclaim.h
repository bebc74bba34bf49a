// Reclaim frees the blocks of orphans. An orphan is an inode whose blocks (of the file blocks
// [orphan_from, orphan_to)) wait to be freed: an unlinked file that no process has open, or the
// part that truncate or punch cut off. Each 64th lane has a list of orphans. Their blocks are freed
// step by step once all processes that could still be copying from them have left, and no mapping
// pins them.
#pragma once

#include "file/inode/file_system.h"
#include "pool/core/redo.h"

namespace cairn::file {

// The list of the seat's lane, locked from the constructor to the destructor.
class OrphanList {
 public:
  OrphanList(FileSystem& fs, LocalSeat& seat);
  ~OrphanList();
  OrphanList(const OrphanList&) = delete;
  OrphanList& operator=(const OrphanList&) = delete;
  // Commits the change that adds an inode to the list; the inode holds about `blocks`.
  Status commit(pool::RedoChange& change, const Map& orphan, uint64_t blocks);

 private:
  FileSystem& fs_;
  format::OrphanShard& shard_;
};

// Frees the orphans in this process's lists once some megabytes, or some files, have gathered: each
// look at the seats costs a process fence and a scan of all lanes. Operations that made orphans
// call it at their end, without locks held.
void reclaim_some(FileSystem& fs, LocalSeat& seat);
// Makes the next orphan start a pass. A process that has just attached calls it: its lane's list
// may hold what a dead process left, and processes may be too short-lived to gather enough.
void reclaim_soon(FileSystem& fs);
// Frees whatever can be freed in one list. Returns the number of blocks freed.
uint64_t reclaim_list(FileSystem& fs, LocalSeat& seat, uint32_t shard);

// Counts the blocks that wait to be freed, in all lists. Takes no lock, so the figure is
// approximate while processes work.
uint64_t count_withheld(const FileSystem& fs);

// Frees the orphans that no process can still read, in any list, the seat's own first, until some
// megabytes have come back. Does not wait: the caller is inside a call, and two callers that wait
// for each other's epochs would never end.
bool reclaim_passed(FileSystem& fs, LocalSeat& seat);

// Frees whatever can be freed in all lists. Waits up to a second for processes inside a call that
// withhold blocks. Returns true if any block came back. The caller is in no seat, so any number of
// processes may wait here concurrently: none withholds blocks while it waits.
bool reclaim_withheld(FileSystem& fs);
// Does what reclaim_withheld() does, for a caller inside a call, and waits only for a moment: two
// such callers wait for each other, because each has announced itself. A caller that fails begins
// again from outside (make_room.h).
bool reclaim_withheld_inside(FileSystem& fs, LocalSeat& seat);

}  // namespace cairn::file
