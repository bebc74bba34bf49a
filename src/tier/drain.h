// Draining: what changed in a cover is carried to lower.
//
// Three walks over the cover's tree in the pool:
//   plan     how many bytes are to be written, and whether lower has room for them; nothing is
//            changed
//   create   directories are made, files written aside, compared and renamed to their names
//   finish   from the leaves up: what was removed in the pool is removed in lower (only if
//            everything could be created and no name has changed since the plan, so that a moved
//            file is never nowhere), then directories get their modes and times
//
// Invariants
//  1. Nothing in lower is replaced or removed unless it is what the pool remembers (LowerIdentity).
//  2. A name in lower shows the old file or the whole new one. What is written aside has a name
//     that begins with ".cairn-drain-"; the next drain removes what a killed one left.
//     What a name held before while its bytes are still to be written elsewhere is kept (keep.cc)
//     until the end of a drain that could do everything: old data are in lower all the time.
//  3. An inode counts as drained (Inode::drained is its ctime) only after lower has it under its
//     name. The ctime that counts is that of before the copy; whoever changes the file later moves
//     it on.
//  4. Between the rename in lower and the note in the pool a drain can be killed: the journal says
//     what was about to be renamed, so that the next one knows its own file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>

#include "tier/cover.h"
#include "tier/drain_mode.h"

namespace cairn::tier {

struct DrainReport {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t removed = 0;
  uint64_t directories = 0;
  uint64_t conflicts = 0;
  uint64_t failed = 0;
  uint64_t waiting = 0;  // files of which other nodes still hold parts (cluster/collect/collect.h)
  uint64_t postponed = 0;        // regular files left for a later drain (WhileRunning)
  uint64_t postponed_bytes = 0;  // that a drain would write for them
};

// What a drain leaves alone because programs are still at work on it.
struct WhileRunning {
  uint64_t quiet_ns = 0;    // a file counts if it has not changed for so long
  bool only_closed = true;  // and if no process has it open, whatever its mode
  DrainMode otherwise = DrainMode::close;  // of names that have no mode, nor a directory with one
  // The run is over: what has the mode `exit` is drained as well, quiet and closed or not.
  bool at_end = false;
};

struct DrainCalls {
  std::optional<WhileRunning> while_running = {};  // none: everything is drained
  // Inodes of files, and of all directories on the way to them: the rest is left to a later drain.
  // Null: everything.
  const std::unordered_set<uint64_t>* only = nullptr;
  std::function<bool(uint64_t done, uint64_t total)> progress;  // false: stop
  std::function<void(const char* text)> problem;
};

// EIO if something failed or is in conflict, ENOSPC, ECANCELED. Where files were postponed, or
// names have changed meanwhile, no name is removed from lower: a file may have been moved from
// there.
Status drain(Cover& cover, const DrainCalls& calls, DrainReport* report);

// Notes that a drain of the cover has come to its end, whether or not it could do everything. A
// drain that was killed or stopped before that stays known (Journal::drain_begun).
Status end_drain(const Cover& cover);

// The regular files that a drain of the cover would write, and their bytes. A file that was renamed
// since lower had it is not written (file/namespace/moved.h).
struct Undrained {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint32_t modes = 0;        // 1 << DrainMode for each that a name in the cover has as its own
  std::string oldest = {};   // path of the file that has waited longest since it changed
  uint64_t oldest_time = 0;  // when it changed
  uint64_t left_out = 0;     // files of mode never, which no drain writes; not among `files`
  uint64_t renamed = 0;      // files that only get another name in lower; not among `files`
};
Result<Undrained> undrained_data(file::FileSystem& fs, uint64_t top);
// Calls visit for each of these files until it returns false: path below the covered directory,
// bytes, and whether lower has something older under that name.
using VisitUndrained = std::function<bool(const std::string& path, uint64_t bytes, bool is_older)>;
Status for_each_undrained(file::FileSystem& fs, uint64_t top, const VisitUndrained& visit);

// Lower has everything that the cover has, removals included.
Result<bool> is_all_drained(file::FileSystem& fs, uint64_t top);

}  // namespace cairn::tier
