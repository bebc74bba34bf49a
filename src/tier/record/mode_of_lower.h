// The drain mode `never` that a file or directory has in lower. Files that it keeps back are lost
// when the run ends, so a report names it unless the run itself has set it: another user may have
// set it while the file or directory was open to others.
#pragma once

#include <cstdint>
#include <string>

#include "file/inode/file_system.h"
#include "tier/system/system.h"

namespace cairn::tier {

// Names that a `never` of lower keeps back, and the file or directory that has it: its path below
// the covered directory, "." for that one itself. Of several, the first one.
struct KeptBack {
  uint64_t names = 0;
  std::string by;
};

// Notes that the inode's mode comes from lower; forgets it when a program sets the mode.
Status note_mode_of_lower(file::FileSystem& fs, const file::Map& map);
void forget_mode_of_lower(file::FileSystem& fs, const file::Map& map);
// Is the inode's own mode `never`, and has no program set it since it was imported?
bool has_never_of_lower(file::FileSystem& fs, const file::Map& map);

// After a drain has set owner and mode of a file or directory in lower, where `before` is what it
// was. If others could write to it then, and cannot now, its drain mode becomes that of the pool.
// The descriptor may be opened with O_PATH.
void end_mode_of_others(file::FileSystem& fs, const file::Map& map, int fd,
                        const sys::FileStat& before);

}  // namespace cairn::tier
