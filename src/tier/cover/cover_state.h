// CoverState says which changes of a cover are not in lower yet.
//
// Counts of bytes are for messages, and to compare with the room in lower. They do not tell whether
// a cover may be dropped: names, removals, modes, links, empty files and holes are changes too, and
// have no bytes.
#pragma once

#include <string>

#include "file/inode/file_system.h"
#include "tier/record/mode_of_lower.h"

namespace cairn::tier {

struct CoverState {
  uint64_t undrained_files = 0;  // regular files that a drain would write
  uint64_t undrained_bytes = 0;
  bool all_drained = true;   // lower has everything, removals and the top's own mode included
  uint64_t parts = 0;        // of files that several nodes write; their bytes count as undrained
  uint64_t drain_begun = 0;  // when a drain began that has not ended; 0: none
  uint32_t modes = 0;        // as Undrained has them, and the next five
  std::string oldest = {};
  uint64_t oldest_time = 0;
  uint64_t left_out = 0;
  uint64_t renamed = 0;
  KeptBack kept_back = {};
  bool in_use = false;  // a run is under way, or processes use it, or that is unknown
};

// The state of the cover with this name in /.covers.
Result<CoverState> state_of_cover(file::FileSystem& fs, const std::string& name);

}  // namespace cairn::tier
