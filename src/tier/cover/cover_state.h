// CoverState says what of a cover is not in lower yet.
//
// Bytes are what a person is told, and what room in lower is compared with. They do not say whether
// a cover may go: names, removals, modes, links, empty files and holes are changes too, and weigh
// nothing.
#pragma once

#include <string>

#include "file/inode/file_system.h"

namespace cairn::tier {

struct CoverState {
  uint64_t undrained_files = 0;  // regular files that a drain would write
  uint64_t undrained_bytes = 0;
  bool all_drained = true;   // lower has everything, removals and the top's own mode included
  uint64_t parts = 0;        // of files that several nodes write; their bytes count as undrained
  uint64_t drain_begun = 0;  // when one began that has not come to its end; 0: none
  uint32_t modes = 0;        // as Undrained has them, and the next four
  std::string oldest = {};
  uint64_t oldest_time = 0;
  uint64_t left_out = 0;
  uint64_t renamed = 0;
  bool in_use = false;  // a run is under way, or processes are in it; or nobody can tell
};

// Of the cover with this name in /.covers.
Result<CoverState> state_of_cover(file::FileSystem& fs, const std::string& name);

}  // namespace cairn::tier
