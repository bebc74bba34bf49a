// Cover: a directory of the pool stands in for a directory of the system (include/cairn/cover.h
// says it for users).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "file/file_system.h"
#include "media/liveness.h"
#include "tier/cover_state.h"

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

// Called for who is the only member, before anybody else can be one. Who fails at it does not become one.
using WhenAlone = std::function<Status(const Cover& cover)>;
// Called for a cover that is about to be discarded. Removes what higher layers keep for it.
using BeforeDiscard = std::function<Status(const Cover& cover)>;
struct OpenOptions {
  std::string job;
  bool keep = false;
  WhenAlone when_alone = {};
  std::string launch = {};  // CoverRecord::launch
  // Begins anew (fresh.h) if there is a function.
  std::function<void(const CoverState& left)> left = {};
  BeforeDiscard before_discard = {};
};

Result<std::unique_ptr<Cover>> open_cover(file::FileSystem& fs, const std::string& directory,
                                          const OpenOptions& options);
// ENOENT if there is none.
Result<std::unique_ptr<Cover>> join_cover(file::FileSystem& fs, const std::string& directory,
                                          const WhenAlone& when_alone = {});
// Says that a run is under way in the cover, also while nobody is attached: true until the descriptor that it returns
// is closed, which is for who runs programs, not for them.
Result<int> hold_run(const Cover& cover);
Result<bool> is_run_under_way(const file::FileSystem& fs, const std::string& name);
// Whether other processes are in it, on this node.
Result<bool> has_other_members(const Cover& cover);
// Whether any process is in the cover with this name.
Result<bool> has_members(const file::FileSystem& fs, const std::string& name);
// Removes the cover with all it holds, drained or not, and its claim. EBUSY while others are
// members. `only_drained`: EAGAIN if something has changed since it was drained, or parts are left. `before` is called once
// nothing speaks against it, and before anything is removed.
Status discard_cover(Cover& cover, bool only_drained, const std::function<Status()>& before = {});

// Opening, joining and discarding take turns in a pool, and drains of one cover do: a kernel lock
// on a byte of the pool's lock file. Waits for it.
Result<media::LivenessLock> lock_covers(const file::FileSystem& fs);
Result<media::LivenessLock> lock_drain(const file::FileSystem& fs, const std::string& name);
// Does not wait: EAGAIN.
Result<media::LivenessLock> try_lock_drain(const file::FileSystem& fs, const std::string& name);

}  // namespace cairn::tier
