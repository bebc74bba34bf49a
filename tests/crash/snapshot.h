// A snapshot: what a tree of files looks like, read straight from a mapped pool, without a seat, a
// lock or a store. Two that are equal are the same to every program (times apart).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "file/inode/file_system.h"

namespace cairn::test {

struct Item {
  uint32_t mode = 0;
  uint64_t links = 0;
  uint64_t size = 0;
  uint64_t mapped = 0;                     // blocks of data
  std::map<uint64_t, std::string> blocks;  // those that are not all zeros
  std::string target;
  std::string attributes;  // the bytes of the attributes' block
  uint64_t number = 0;     // which file, whatever its names: inode and generation
  uint64_t generation = 0;
  bool lazy = false;    // its bytes lie in lower
  uint64_t synced = 0;  // page media: what of the size a power loss leaves
  friend bool operator==(const Item& a, const Item& b) {
    return a.mode == b.mode && a.links == b.links && a.size == b.size && a.mapped == b.mapped &&
           a.blocks == b.blocks && a.target == b.target && a.attributes == b.attributes;
  }
};

using Snapshot = std::map<std::string, Item>;

// Everything at and below the directory `number`, "" being itself. What cannot be read is told in
// `trouble`.
Snapshot take_snapshot(file::FileSystem& fs, uint64_t number, std::string* trouble);

// The modification times by inode: they are promised after a clean detach only.
std::map<std::string, uint64_t> take_times(file::FileSystem& fs);

// How `found` differs from `expected`; empty: not at all.
std::string difference(const Snapshot& found, const Snapshot& expected);

// Could `found` be a state in the midst of a change of bytes from `before` to `after`? Each byte is
// one of the two (beyond the old size: the new one; beyond the size found: or zero), the size lies
// between; names and links are as in one of them.
std::string torn_difference(const Snapshot& found, const Snapshot& before, const Snapshot& after);

// The same for media that promise bytes after fsync only: names, modes, links and attributes are
// those of one of the two states; a byte is one that the file had in any of the past ones, or zero;
// a size is one that was synced, or, when all detach, what it was.
std::string unsynced_difference(const Snapshot& found, const Snapshot& before,
                                const Snapshot& after, const std::vector<const Snapshot*>& past,
                                bool detaching);

}  // namespace cairn::test
