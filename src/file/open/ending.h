// Ending: what becomes of an inode when its last name goes.
//
// One that holds nothing and that no process has open is freed by the very change that takes the
// name. Others become orphans (reclaim.h) when their last opener closes them, or immediately if
// they have none.
//
// Opening and ending meet without a common lock. An opener raises `opens`, and then looks at
// `state` and `links`. A process that ends the inode makes one of these two say so, and then looks
// at `opens`: one sees the other. An opener that sees an end coming waits for the inode's lock,
// under which ends are decided.
#pragma once

#include "file/inode/file_system.h"
#include "pool/core/redo.h"

namespace cairn::file {

// Ends an inode within the change that takes its last name. The caller holds the locks of the
// directory and of the inode, and the seat makes no inode meanwhile.
class EndAtOnce {
 public:
  // Announces the end, if the inode holds nothing and nobody has it open.
  EndAtOnce(FileSystem& fs, LocalSeat& seat, const Map& map);
  // Takes the announcement back, if finish() was not called.
  ~EndAtOnce();
  EndAtOnce(const EndAtOnce&) = delete;
  EndAtOnce& operator=(const EndAtOnce&) = delete;

  [[nodiscard]] bool possible() const { return possible_; }
  void add(pool::Change& change) { retire_inode(fs_, seat_, change, map_); }
  // The change has committed.
  void finish();

 private:
  FileSystem& fs_;
  LocalSeat& seat_;
  Map map_;
  bool possible_ = false;
};

// For an opener that has raised `opens`: false if the inode has ended.
bool may_open(FileSystem& fs, LocalSeat& seat, Inode& inode);

// An inode without names and openers becomes an orphan. The caller holds no lock.
void end_if_unused(FileSystem& fs, LocalSeat& seat, uint64_t number);
// Ends unlinked inodes whose last opener died.
void sweep_unlinked(FileSystem& fs, LocalSeat& seat);

}  // namespace cairn::file
