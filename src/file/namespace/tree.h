// Tree: what a walk through a pool's directories has met, to detect directories that form no tree.
//
// Directories form a tree: each has one name, in the directory that it calls its parent. Cairn
// keeps it so, but a pool can be damaged, or written by a process that wants a walk never to end:
// with a directory below itself, or with two names for each of many directories. A walk asks here
// before it enters a directory. The answer is EUCLEAN only for a state that no concurrent rename
// can produce.
#pragma once

#include <unordered_map>

#include "file/namespace/directory.h"

namespace cairn::file {

class Tree {
 public:
  // Starts a walk at directory `top`.
  Tree(FileSystem& fs, uint64_t top) : fs_(fs), top_(top) {}

  // Checks a directory, found as `listed` in `directory`, before the walk enters it. EUCLEAN: this
  // name breaks the tree. A directory that has been moved or removed since it was listed is no
  // error. The caller holds no lock.
  Status enter(const Map& directory, const Listed& listed);

 private:
  struct NameSlot {
    uint64_t directory;
    uint64_t unit;
  };
  // Runs `look` with the directory's lock held, or in a state as stable as that.
  template <typename Look>
  bool holds(const Map& directory, Look look);

  FileSystem& fs_;
  uint64_t top_;
  std::unordered_map<uint64_t, NameSlot> met_;  // by inode number: where its name was
};

}  // namespace cairn::file
