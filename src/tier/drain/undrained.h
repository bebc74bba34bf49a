// Tells what a drain would write, without draining.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "file/inode/file_system.h"
#include "tier/record/mode_of_lower.h"

namespace cairn::tier {

// The regular files that a drain of the cover would write, and their bytes. A file that was renamed
// since lower had it is not written (file/namespace/moved.h).
struct Undrained {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint32_t modes = 0;        // 1 << DrainMode for each mode that names in the cover have themselves
  std::string oldest = {};   // path of the file that has waited longest since it changed
  uint64_t oldest_time = 0;  // when it changed
  uint64_t left_out = 0;     // files of mode never, which no drain writes; not among `files`
  uint64_t renamed = 0;      // files that only get another name in lower; not among `files`
  KeptBack kept_back = {};
};
Result<Undrained> undrained_data(file::FileSystem& fs, uint64_t top);
// Calls visit for each of these files until it returns false, with the path below the covered
// directory, the bytes, and whether lower has an older file under that name.
using VisitUndrained = std::function<bool(const std::string& path, uint64_t bytes, bool is_older)>;
Status for_each_undrained(file::FileSystem& fs, uint64_t top, const VisitUndrained& visit);

// Does lower have all changes of the cover, removals included?
Result<bool> is_all_drained(file::FileSystem& fs, uint64_t top);

}  // namespace cairn::tier
