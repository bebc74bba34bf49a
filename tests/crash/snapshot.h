// A snapshot: what a tree of files looks like, read straight from a mapped pool, without a seat, a
// lock or a store. Two that are equal are the same to every program (times apart).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "file/file_system.h"

namespace cairn::test {

struct Item {
  uint32_t mode = 0;
  uint64_t links = 0;
  uint64_t size = 0;
  std::map<uint64_t, std::string> blocks;  // those that are not all zeros
  std::string target;
  std::string attributes;  // the bytes of the attributes' block
  friend bool operator==(const Item&, const Item&) = default;
};

using Snapshot = std::map<std::string, Item>;

// Everything at and below the directory `number`, "" being itself. What cannot be read is told in
// `trouble`.
Snapshot take_snapshot(file::FileSystem& fs, uint64_t number, std::string* trouble);

// How `found` differs from `expected`; empty: not at all.
std::string difference(const Snapshot& found, const Snapshot& expected);

// Could `found` be a state in the midst of a change of bytes from `before` to `after`? Each byte and
// size is one of the two or, beyond the size found, zero; names and links are as in one of them.
std::string torn_difference(const Snapshot& found, const Snapshot& before, const Snapshot& after);

}  // namespace cairn::test
