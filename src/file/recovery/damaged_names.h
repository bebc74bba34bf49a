// Damaged names: finds where a directory's names and its index disagree, and recovers the name. A
// name stands in its slot together with its hash, so one of the two tells what it was.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "file/namespace/directory.h"

namespace cairn::file {

// Compares each name of a directory with its index, and their number with the directory's count.
// Calls finding(text) for every fault, and visit(name), if given, for each name. The caller holds
// the lock, or no process changes the pool.
using Finding = std::function<void(const char* text)>;
using VisitName = std::function<void(const Listed& listed)>;
void check_names(const FileSystem& fs, const Map& directory, const Finding& finding,
                 const VisitName& visit = nullptr);
// Returns the first of these findings, or "". Takes the directory's lock.
Result<std::string> first_finding(FileSystem& fs, const Map& directory);

// Returns true if the hash in the slot of a listed name differs from the name's hash.
bool has_other_hash(const FileSystem& fs, const Map& directory, const Listed& listed);

// Returns true if the slot of a listed name has this hash.
bool has_hash(const FileSystem& fs, const Map& directory, const Listed& listed, uint32_t hash);

struct NamedSlot {
  uint64_t unit = 0;
  uint64_t inode = 0;  // 0: there is none
};
// Finds the slot of a name to which the index does not lead: the name, its hash or the index is
// damaged.
NamedSlot find_beside_index(const FileSystem& fs, const Map& directory, const Name& name);

// Finds the directories that call `directory` their parent and that none of its names leads to.
std::vector<uint64_t> find_unnamed(const FileSystem& fs, const Map& directory);
// Does what find_unnamed() does, while no process changes the directory's names.
Result<std::vector<uint64_t>> find_unnamed_locked(FileSystem& fs, const Map& directory);

}  // namespace cairn::file
