// Cover: a directory of the pool stands in for a directory of the system (include/cairn/cover.h
// says it for users).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "file/inode/file_system.h"
#include "media/liveness.h"
#include "tier/cover_state.h"
#include "tier/record.h"
#include "tier/system.h"

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

// Called for who is the only member, before anybody else can be one. Who fails at it does not
// become one.
using WhenAlone = std::function<Status(const Cover& cover)>;
// Called for a cover that is about to be discarded. Removes what higher layers keep for it.
using BeforeDiscard = std::function<Status(const Cover& cover)>;
// Called with one line about what was done to the cover without being asked for.
using Notice = std::function<void(const char* text)>;
struct OpenOptions {
  std::string job;
  bool keep = false;
  WhenAlone when_alone = {};
  std::string launch = {};  // CoverRecord::launch
  // Begins anew (fresh.h) if there is a function.
  std::function<void(const CoverState& left)> left = {};
  BeforeDiscard before_discard = {};
  Notice notice = {};
};

// ESTALE: another directory has the path by now, and the pool keeps what was never drained to the
// covered one. Where the pool keeps nothing, the old cover is dropped, which `notice` is told.
// EEXIST: the directory was covered by another path, it was moved here, and the pool keeps what was
// never drained to it.
Result<std::unique_ptr<Cover>> open_cover(file::FileSystem& fs, const std::string& directory,
                                          const OpenOptions& options);
// ENOENT if there is none.
Result<std::unique_ptr<Cover>> join_cover(file::FileSystem& fs, const std::string& directory,
                                          const WhenAlone& when_alone = {});
// The same for a process that drains elsewhere or discards: the directory may be gone, or be
// another one. It is given by its real path then.
Result<std::unique_ptr<Cover>> join_kept(file::FileSystem& fs, const std::string& directory);

// Whether the path of a cover still leads to the covered directory.
enum class Covered : uint8_t {
  same,
  unclaimed,  // the same, but its claim is missing
  unknown,    // the cover is of an earlier version, and there is no claim
  other,      // another directory
  gone,       // no directory
  copy,       // another directory, with a copy of the claim
};
// A claim that says the cover's token is enough: for a directory that somebody has named, as where
// the covered one was moved to. Never `copy`.
Result<Covered> look_at_covered(const file::FileSystem& fs, const CoverRecord& record,
                                const std::string& path);
// ELOOP if what a cover holds must not be drained to this directory: it lies in a pool, or is
// covered itself. The path of the cover is no other one.
Status refuse_elsewhere(const Cover& cover, const std::string& path);
// Before a drain: ESTALE if it is another directory, or none, and the pool keeps something for the
// covered one. A claim that is missing is written again.
Status confirm_covered(const Cover& cover, const Notice& notice);
// Before a drain to the path of the cover that somebody has asked for in so many words: a copy of
// the covered directory takes its place.
Status accept_covered(const Cover& cover, const Notice& notice);
// The covered directory, for a drain, which works on this descriptor (O_PATH) whatever has the path
// by then. None if it is another one or gone, and nothing is to be drained to it; ESTALE if
// something is.
struct OpenCovered {
  sys::Descriptor directory;
  uint64_t owner = no_owner;  // CoverRecord::owner
};
Result<OpenCovered> open_covered(const Cover& cover);
// Says that a run is under way in the cover, also while nobody is attached: true until the
// descriptor that it returns is closed, which is for who runs programs, not for them.
Result<int> hold_run(const Cover& cover);
Result<bool> is_run_under_way(const file::FileSystem& fs, const std::string& name);
// Whether other processes are in it, on this node.
Result<bool> has_other_members(const Cover& cover);
// Whether any process is in the cover with this name.
Result<bool> has_members(const file::FileSystem& fs, const std::string& name);
// Removes the cover with all it holds, drained or not, and its claim. EBUSY while others are
// members. `only_drained`: EAGAIN if something has changed since it was drained, or parts are left.
// `before` is called once nothing speaks against it, and before anything is removed.
Status discard_cover(Cover& cover, bool only_drained, const std::function<Status()>& before = {});

// Opening, joining and discarding take turns in a pool, and drains of one cover do: a kernel lock
// on a byte of the pool's lock file. Waits for it.
Result<media::LivenessLock> lock_covers(const file::FileSystem& fs);
Result<media::LivenessLock> lock_drain(const file::FileSystem& fs, const std::string& name);
// Does not wait: EAGAIN.
Result<media::LivenessLock> try_lock_drain(const file::FileSystem& fs, const std::string& name);

}  // namespace cairn::tier
