// Tree: what a walk through a pool's directories knows of its way.
//
// Directories form a tree: each has one name, in the directory that it calls its parent. All our
// calls keep it so, but a pool can be damaged, or written by a process that wants a walk never to
// end: with a directory below itself, or with two names for each of many directories. A walk asks
// here before it goes down. The answer is EUCLEAN only for what no rename under way can look like.
#pragma once

#include <unordered_map>

#include "file/namespace/directory.h"

namespace cairn::file {

class Tree {
 public:
  // A walk that begins at directory `top`.
  Tree(FileSystem& fs, uint64_t top) : fs_(fs), top_(top) {}

  // Before the walk enters the directory that it has found as `listed` in `directory`. EUCLEAN:
  // this name makes no tree. What has been moved or removed since it was listed is no error. The
  // caller holds no lock.
  Status enter(const Map& directory, const Listed& listed);

 private:
  struct Place {
    uint64_t directory;
    uint64_t unit;
  };
  // With the directory's lock, or as good as that.
  template <typename Look>
  bool holds(const Map& directory, Look look);

  FileSystem& fs_;
  uint64_t top_;
  std::unordered_map<uint64_t, Place> met_;  // by inode number: where its name was
};

}  // namespace cairn::file
