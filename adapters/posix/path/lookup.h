// Looks up paths: decides whether they are covered, walks in the pool, and follows symbolic links
// that leave the cover and come back.
#pragma once

#include <atomic>

#include "posix/path/covered.h"

namespace posix {

struct Found {
  Cover* cover = nullptr;  // null: outside; make the real call with dir and path
  int dir = AT_FDCWD;
  const char* path = nullptr;
  int descriptor = -1;  // outside: the open Cairn file that the path names

  bool exists = false;   // inside: the fields from here on count
  bool shared = false;   // several nodes write it: `st` is not an inode of the pool (job_files.h)
  bool in_pool = false;  // the pool has a file of this name, too
  bool slash = false;    // the path ended in '/', so it must be a directory
  cairn_stat st;         // if it exists
  cairn_ino parent = 0;
  char name[NAME_MAX + 2];  // in parent; "." if the path names the walk's start itself

  CoveredPath spot;

  bool outside() const { return cover == nullptr; }
};

// The call acts on the name itself, also if "/" follows it (mkdir, unlink, rename, ...). The file
// need not be a directory then. Includes CAIRN_NOFOLLOW.
constexpr unsigned kOwnName = 1U << 31 | CAIRN_NOFOLLOW;

// The real user must be allowed to search the directories (access), else the effective one.
constexpr unsigned kRealUser = 1U << 30;

// Flags of openat2, for a path from a directory of ours. kBeneath: -EXDEV if the path leads out of
// it. kInRoot: a path that leads out of it starts at it again. kNoLinks: -ELOOP for a symbolic
// link; for the last component only without CAIRN_NOFOLLOW.
constexpr unsigned kBeneath = 1U << 29;
constexpr unsigned kInRoot = 1U << 28;
constexpr unsigned kNoLinks = 1U << 27;

// Finds a file. `flags`: CAIRN_NOFOLLOW or kOwnName, kRealUser, and the flags of openat2. Returns 0
// if the path leads outside, exists, or lacks only its last component (found->exists is false
// then), else a negative errno.
int find(int dir, const char* path, unsigned flags, Found* found);
// Finds a file that must exist: returns -ENOENT if its last component is missing.
int find_existing(int dir, const char* path, unsigned flags, Found* found);

// Returns 0 if the path of the running program's file (self_exe.h) still leads to that file, else a
// negative errno.
int find_self_exe();

// Files that only other nodes have. find() asks for them while this process belongs to a job on
// several hosts.
struct JobNames {
  // Called after a walk. Makes `found` the shared file, if there is one of the name. Returns 0 or a
  // negative errno.
  int (*look)(Found* found);
  // Returns true if the file moved to this node between the two looks: another node had it when the
  // pool was read, and no node when the others were asked.
  bool (*came_here)(const Found& found);
};
extern constinit std::atomic<const JobNames*> names_of_job;  // null: there is no job

// Repeats a lookup whose file was replaced before the call could act on it: the call returns
// -ESTALE, as the inode is another file's then. A rename over the file must not be visible to
// callers, so they look it up again.
class StaleRetry {
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
