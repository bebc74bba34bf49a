// Damaged names: where a directory's names and its index do not agree, and what such a name was.
// A name stands in its slot together with its hash, so one of the two says what it was.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "file/namespace/directory.h"

namespace cairn::file {

// Compares each name of a directory with its index, and their number with the directory's count.
// Calls finding(text) for everything that is wrong; visit(name), if there is one, for each name.
// Without the lock in a pool that no process changes, or with the lock held.
using Finding = std::function<void(const char* text)>;
using VisitName = std::function<void(const Listed& listed)>;
void check_names(const FileSystem& fs, const Map& directory, const Finding& finding,
                 const VisitName& visit = nullptr);
// The first of these findings, or "". Takes the directory's lock.
Result<std::string> first_finding(FileSystem& fs, const Map& directory);

// Does the hash that stands in the slot of a listed name differ from that of the name?
bool has_other_hash(const FileSystem& fs, const Map& directory, const Listed& listed);

// Does this hash stand there?
bool has_hash(const FileSystem& fs, const Map& directory, const Listed& listed, uint32_t hash);

struct NamedSlot {
  uint64_t unit = 0;
  uint64_t inode = 0;  // 0: there is none
};
// The slot of a name to which the index does not lead: the name, its hash or the index is damaged.
NamedSlot find_beside_index(const FileSystem& fs, const Map& directory, const Name& name);

// Directories that call `directory` their parent, and that none of its names leads to.
std::vector<uint64_t> find_unnamed(const FileSystem& fs, const Map& directory);
// While no process changes its names.
Result<std::vector<uint64_t>> find_unnamed_locked(FileSystem& fs, const Map& directory);

}  // namespace cairn::file
