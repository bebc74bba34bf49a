// From a path to what it names: coverage, the walk in the pool, symbolic links that leave the cover
// and come back.
#pragma once

#include <atomic>

#include "posix/path/covered.h"

namespace posix {

struct Found {
  Cover* cover = nullptr;  // nullptr: outside; make the real call with dir and path
  int dir = AT_FDCWD;
  const char* path = nullptr;
  int descriptor = -1;  // outside, and the path names this open Cairn file

  bool exists = false;   // inside
  bool shared = false;   // and several nodes write it: `st` is no inode's of the pool (job_files.h)
  bool in_pool = false;  // which has a file of this name too
  bool slash = false;    // the path ended in '/', so only a directory will do
  cairn_stat st;         // if it exists
  cairn_ino parent = 0;
  char name[NAME_MAX + 2];  // in parent; "." if the path names the walk's start itself

  Spot spot;

  bool outside() const { return cover == nullptr; }
};

// Besides CAIRN_NOFOLLOW: the name itself is meant, also if "/" follows it (mkdir, unlink, rename,
// ...). What is there need not be a directory then.
constexpr unsigned kOwnName = 1U << 31 | CAIRN_NOFOLLOW;

// Directories are searched as the real user (access); else as the effective one.
constexpr unsigned kRealUser = 1U << 30;

// openat2's ways, from a directory of ours: -EXDEV for what leads out of it; what would lead out of
// it starts from it anew; -ELOOP for a symbolic link, the last component too unless CAIRN_NOFOLLOW.
constexpr unsigned kBeneath = 1U << 29;
constexpr unsigned kInRoot = 1U << 28;
constexpr unsigned kNoLinks = 1U << 27;

// flags: CAIRN_NOFOLLOW or kOwnName, kRealUser, and how openat2 resolves. 0 when the path leads
// outside, exists, or only its last component is missing (found->exists tells); else a negative
// errno.
int find(int dir, const char* path, unsigned flags, Found* found);
// The same, where what is missing is an error: -ENOENT.
int find_existing(int dir, const char* path, unsigned flags, Found* found);

// Does the path of the running program's file (self_exe.h) still lead to that file? 0 or a negative
// errno.
int find_self_exe();

// Files that only other nodes have. While this process is one of a job on several hosts, find()
// asks for them.
struct JobNames {
  // After a walk: `found` is the shared file, if there is one of the name. 0 or a negative errno.
  int (*look)(Found* found);
  // Another node had it when the pool was looked at, and none when the others were asked: it has
  // come here between the two.
  bool (*came_here)(const Found& found);
};
extern constinit std::atomic<const JobNames*> names_of_job;  // null: there is no job

// A call finds something and does something to it, which says -ESTALE if that was replaced in
// between: its number means another file then, or none. Nobody who renames files over others is to
// be seen at that, so the call looks again.
class Looks {
 public:
  template <typename Result>
  bool again(Result* result) {
    if (*result != -ESTALE) return false;
    if (++count_ < 100) return true;
    *result = -ENOENT;
    return false;
  }

 private:
  int count_ = 0;
};

}  // namespace posix
