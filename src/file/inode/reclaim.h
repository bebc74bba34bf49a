// Reclaim: orphans are inodes whose blocks (those of the file blocks [orphan_from, orphan_to)) wait
// to be freed: unlinked files that nobody has open, and what truncate and punch cut off. They stand
// in lists, one for each 64th lane, and are freed step by step once all processes that could still
// be copying from them have left, and no mapping pins them.
#pragma once

#include "file/inode/file_system.h"
#include "pool/core/redo.h"

namespace cairn::file {

// The list of the seat's lane; its lock is held from the constructor to the destructor.
class OrphanList {
 public:
  OrphanList(FileSystem& fs, LocalSeat& seat);
  ~OrphanList();
  OrphanList(const OrphanList&) = delete;
  OrphanList& operator=(const OrphanList&) = delete;
  // Makes the change, with which an inode comes into the list; it holds about `blocks`.
  Status commit(pool::Change& change, const Map& orphan, uint64_t blocks);

 private:
  FileSystem& fs_;
  format::OrphanShard& shard_;
};

// Frees what this process's lists hold if enough has gathered: some megabytes, or some files,
// because each look at the seats costs a process fence and a scan of all lanes. Called at the end
// of operations that made orphans, without locks held.
void reclaim_some(FileSystem& fs, LocalSeat& seat);
// The next orphan starts a pass: for a process that has just attached, because its lane's list may
// hold what a dead one left, and processes may be too short-lived to gather enough themselves.
void reclaim_soon(FileSystem& fs);
// Frees whatever can be freed in one list; returns the number of blocks that came back.
uint64_t reclaim_list(FileSystem& fs, LocalSeat& seat, uint32_t shard);

// Blocks that wait to be freed, in all lists. Takes no lock: a figure for people while processes
// work.
uint64_t count_withheld(const FileSystem& fs);

// Frees what has passed in any list, the seat's own first, until some megabytes have come back.
// Does not wait: the caller is inside a call itself, and two that wait for each other's epochs
// never end.
bool reclaim_passed(FileSystem& fs, LocalSeat& seat);

// Frees whatever can be freed in all lists; waits for up to a second for processes inside a call
// that withhold it. Returns whether anything came back. The caller is in no seat: any number of
// processes may wait here at once, and none withholds anything while it waits.
bool reclaim_withheld(FileSystem& fs);
// The same for a caller inside a call. It has announced itself, and of two that wait here each
// waits for the other: so only for a moment. Who fails then begins again from outside
// (make_room.h).
bool reclaim_withheld_inside(FileSystem& fs, LocalSeat& seat);

}  // namespace cairn::file
