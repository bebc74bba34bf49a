// Membership says which processes are in a cover, and takes turns between them, by locks on bytes
// of the pool's lock file. The kernel releases them when a process ends.
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
  uint64_t top = 0;     // the directory that stands for it
  // Kept by a mapping that forked children inherit, so that they count as members too.
  media::LivenessLock member;
  uint64_t member_byte = 0;  // of the pool's lock file
};

// Makes this process a member. EBUSY: there are more than a cover can count.
Status become_member(Cover& cover);

// Says that a run is under way in the cover, also while nobody is attached: true until the
// descriptor that it returns is closed, which is for a process that runs programs, not for the
// programs.
Result<int> hold_run(const Cover& cover);
Result<bool> is_run_under_way(const file::FileSystem& fs, const std::string& name);
// Whether other processes are in it, on this node.
Result<bool> has_other_members(const Cover& cover);
// Whether any process is in the cover with this name.
Result<bool> has_members(const file::FileSystem& fs, const std::string& name);
// Opening, joining and discarding take turns in a pool, and drains of one cover do: a kernel lock
// on a byte of the pool's lock file. Waits for it.
Result<media::LivenessLock> lock_covers(const file::FileSystem& fs);
Result<media::LivenessLock> lock_drain(const file::FileSystem& fs, const std::string& name);
// Does not wait: EAGAIN.
Result<media::LivenessLock> try_lock_drain(const file::FileSystem& fs, const std::string& name);

}  // namespace cairn::tier
