// A name that a file of this node gets without the lock under which names change, and what other
// nodes have of it, asked afterwards: of two nodes that have given it in the same moment the second
// one that asks finds the other's.
//
// It is asked for by its path. While a directory above gets another name (rename.cc), that path
// leads elsewhere on some nodes and not yet on others, and both might find nothing. So each node
// counts the renamings of directories that have begun and that are over; all have heard of one
// before the first pool is changed, and that it is over when the last one is. A process that hears
// of no renaming since before the name was given has asked in time. One that hears twice in turn of
// the same renamings, and that none is under way, has asked between two. While one is under way, it
// takes the lock, which the renaming process has.
#pragma once

#include <string>
#include <vector>

#include "cluster/local/local_entry.h"
#include "cluster/rpc/broadcast.h"
#include "cluster/rpc/job.h"

namespace cairn::cluster {

enum class Locked : bool { no, yes };

class NewName {
 public:
  // Before it is given.
  NewName(Job& job, std::string path) : job_(job), path_(std::move(path)), heard_(job.heard()) {}
  NewName(Job& job, std::string path, const file::Seen& inode) : NewName(job, std::move(path)) {
    is_given_to(inode);
  }
  void is_given_to(const file::Seen& inode) { inode_ = {inode.number, inode.generation}; }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_at(const LocalEntry& entry) const { return entry.is(inode_); }

  struct Others {
    bool have_it = false;
    bool are_renaming = false;  // so that nothing can be said; never under the lock
    std::string path;           // where the file is by now, or was last; empty: it has gone
    NodeNumbers removed;        // those that have removed what the covered directory has there
  };
  [[nodiscard]] Result<Others> look_at_others(Locked locked) const;

 private:
  Job& job_;
  std::string path_;
  std::vector<Past> heard_;
  file::Seen inode_ = {};
};

// Called by the process that renames a directory, under the lock: the renaming begins, or is over
// on all nodes.
Status tell_of_renaming(Job& job, bool begins);

}  // namespace cairn::cluster
