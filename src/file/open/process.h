// Process: the steps around fork and exec in an attached file system (cairn.h, "Life of a
// process").
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// A lane that is made for a child before fork; the mapping of its lock crosses fork.
struct ForkedLane {
  uint32_t lane = 0;
  media::LivenessLock lock;
  bool taken = false;
};
// Takes a lane for the child before fork. The lane holds every open file of this process, also
// those opened from now on. Each process calls its finish function after fork.
Status prepare_fork(FileSystem& fs, ForkedLane* forked);
void finish_fork_in_parent(FileSystem& fs, ForkedLane* forked);
void finish_fork_in_child(FileSystem& fs, ForkedLane* forked);

// Makes a lane that holds `files`, before exec. The returned descriptor (no FD_CLOEXEC) keeps the
// lane.
Result<int> prepare_exec(FileSystem& fs, File* const* files, size_t count);
// Releases everything that the lane behind the descriptor holds, in the new program or after a
// failed exec.
Status finish_exec(FileSystem& fs, int descriptor);

}  // namespace cairn::file
