// Tells which processes are members of a cover, and serialises what they do, by locks on bytes of
// the pool's lock file. The kernel releases them when a process ends.
#pragma once

#include <cstdint>
#include <string>

#include "file/inode/file_system.h"
#include "media/liveness.h"

namespace cairn::tier {

// A process's membership in a cover.
struct Cover {
  file::FileSystem* fs = nullptr;
  std::string path;     // real path of the covered directory
  std::string name;     // in /.covers
  uint64_t covers = 0;  // the inode of /.covers
  uint64_t top = 0;     // the pool's directory that stands for the covered one
  // Kept by a mapping that forked children inherit, so that they count as members too.
  media::LivenessLock member;
  uint64_t member_byte = 0;  // of the pool's lock file
};

// Makes this process a member. EBUSY: there are more than a cover can count.
Status become_member(Cover& cover);

// Shows that a run is under way in the cover, even while no process is attached, until the returned
// descriptor is closed. For a process that runs programs; the programs do not get the descriptor.
Result<int> hold_run(const Cover& cover);
Result<bool> is_run_under_way(const file::FileSystem& fs, const std::string& name);
// Are other processes of this node members of the cover?
Result<bool> has_other_members(const Cover& cover);
// Is any process a member of the cover with this name?
Result<bool> has_members(const file::FileSystem& fs, const std::string& name);
// Serialise the opening, joining and discarding of a pool's covers, and the drains of one cover, by
// a kernel lock on a byte of the pool's lock file. They wait for it.
Result<media::LivenessLock> lock_covers(const file::FileSystem& fs);
Result<media::LivenessLock> lock_drain(const file::FileSystem& fs, const std::string& name);
// Does not wait: EAGAIN.
Result<media::LivenessLock> try_lock_drain(const file::FileSystem& fs, const std::string& name);

}  // namespace cairn::tier
