// Process: what fork and exec ask of an attached file system (cairn.h, "Life of a process").
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// A lane that is made for a process that is about to be born; its lock's mapping crosses fork.
struct ForkedLane {
  uint32_t lane = 0;
  media::LivenessLock lock;
  bool taken = false;
};
// Before fork: takes a lane for the child, which holds every open file of this process, also those
// that are opened from now on. After it, one of the two others in each process.
Status prepare_fork(FileSystem& fs, ForkedLane* forked);
void finish_fork_in_parent(FileSystem& fs, ForkedLane* forked);
void finish_fork_in_child(FileSystem& fs, ForkedLane* forked);

// Before exec: a lane that holds `files`, kept by the descriptor that is returned (no FD_CLOEXEC).
Result<int> prepare_exec(FileSystem& fs, File* const* files, size_t count);
// In the new program, or after a failed exec: the lane behind the descriptor holds nothing any
// more.
Status finish_exec(FileSystem& fs, int descriptor);

}  // namespace cairn::file
