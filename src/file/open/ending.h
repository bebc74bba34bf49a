// Ending: frees or orphans an inode that loses its last name.
//
// If the inode holds nothing and no process has it open, the change that removes the name also
// frees the inode. Another inode becomes an orphan (reclaim.h) when its last opener closes it, or
// immediately if it has none.
//
// Openers and enders share no lock. An opener raises `opens`, then reads `state` and `links`. A
// process that ends the inode stores the end into one of these two, then reads `opens`: one sees
// the other. An opener that sees an end coming waits for the inode's lock, under which ends are
// decided.
#pragma once

#include "file/inode/file_system.h"
#include "pool/core/redo.h"

namespace cairn::file {

// Ends an inode within the change that takes its last name. The caller holds the locks of the
// directory and of the inode, and the seat makes no inode meanwhile.
class EndAtOnce {
 public:
  // Announces the end, if the inode holds nothing and no process has it open.
  EndAtOnce(FileSystem& fs, LocalSeat& seat, const Map& map);
  // Withdraws the announcement, unless finish() was called.
  ~EndAtOnce();
  EndAtOnce(const EndAtOnce&) = delete;
  EndAtOnce& operator=(const EndAtOnce&) = delete;

  [[nodiscard]] bool possible() const { return possible_; }
  void add(pool::RedoChange& change) { retire_inode(fs_, seat_, change, map_); }
  // Releases the inode; the change has committed.
  void finish();

 private:
  FileSystem& fs_;
  LocalSeat& seat_;
  Map map_;
  bool possible_ = false;
};

// Returns false to an opener that has raised `opens` if the inode has ended.
bool may_open(FileSystem& fs, LocalSeat& seat, Inode& inode);

// Makes an inode without names and openers an orphan. The caller holds no lock.
void end_if_unused(FileSystem& fs, LocalSeat& seat, uint64_t number);
// Ends unlinked inodes whose last opener died.
void sweep_unlinked(FileSystem& fs, LocalSeat& seat);

}  // namespace cairn::file
