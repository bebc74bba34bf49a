// CoveredName finds a name of a cover by its path, for calls that are about one file.
#pragma once

#include <string>
#include <vector>

#include "tier/cover/cover.h"

namespace cairn::tier {

struct CoveredName {
  file::Map map;             // what the path names
  uint64_t generation = 0;   // of that
  file::Map directory = {};  // that holds the name; no inode: the path names the cover's top
  uint64_t unit = 0;         // where the name's slot is in `directory`, plus one; 0: unknown
  // `directory` and those above it, up to the top.
  std::vector<uint64_t> way = {};
};

// `path`: relative to the covered directory, or absolute and at or below it. Follows symbolic
// links. EXDEV: it leads out of the directory. ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG.
Result<CoveredName> find_covered(const Cover& cover, const char* path);

// EINVAL unless the name is that of a regular file.
Status check_regular(const CoveredName& name, const char* path);

}  // namespace cairn::tier
