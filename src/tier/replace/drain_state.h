// DrainState is what the steps of a drain share. It has no functions: reporting.h, drain_notes.h,
// while_running.h and lower_directory.h hold those that several steps use.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/coarse_clock.h"
#include "file/namespace/name_changes.h"
#include "tier/changes/changes.h"
#include "tier/changes/drain_calls.h"
#include "tier/changes/drain_directory.h"
#include "tier/claim/membership.h"
#include "tier/lower/beneath.h"
#include "tier/lower/lower.h"
#include "tier/record/journal.h"
#include "tier/record/record.h"
#include "tier/system/system.h"

namespace cairn::tier {

// A file with several names, and the first of them that lower has.
struct LinkedFile {
  std::string path;
  file::Witness witness;
  uint64_t generation = 0;
  CopiedFrom copied;
  // The names that lower has of the file as it was copied: each as its directory and slot.
  std::set<std::pair<uint64_t, uint64_t>> names = {};
  bool is_complete = true;  // so far each of its names could be drained
};

struct DrainState {
  DrainState(Cover& drained, const DrainDirectory& covered, const KnownCover& in,
             const DrainCalls& drain_calls, DrainReport& result)
      : fs(*drained.fs),
        top(covered),
        cover(drained),
        known(in),
        calls(drain_calls),
        report(result) {}

  file::FileSystem& fs;
  const DrainDirectory& top;
  Cover& cover;
  const KnownCover& known;
  const DrainCalls& calls;
  DrainReport& report;
  Beneath beneath;            // the covered directory
  uint64_t owner = no_owner;  // CoverRecord::owner
  uint64_t top_rights = 0;    // CoverRecord::directory_rights
  Journal journal;
  uint64_t links_until = 0;  // as earlier drains have left it
  std::string temp_name;     // of files that this drain writes
  // By the clock that stamps files in lower: none that this drain changes has an earlier time.
  const uint64_t begun = coarse_now_ns();
  const file::NameChanges seen{fs.pool};  // before the first walk
  uint64_t done = 0;
  uint64_t total = 0;
  bool cancelled = false;
  bool out_of_space = false;
  struct MissingRoom {
    uint64_t needed;
    uint64_t free;
  };
  // When the drain began, if lower had not room for all. Then it looks again for each file.
  std::optional<MissingRoom> missing_room;
  std::unordered_set<uint64_t> without_room;  // files for which older ones leave none
  std::map<uint64_t, LinkedFile> linked;
  // Names in lower that hold bytes of files which are still to be written elsewhere: each as its
  // directory and unit + 1.
  std::set<std::pair<uint64_t, uint64_t>> moved_from;
  // The paths in lower of directories that were moved in the pool.
  std::unordered_map<uint64_t, std::string> old_paths;
  // The rights that these directories have there, by the inode.
  struct OldRights {
    file::Witness witness;
    sys::FileStat st;
  };
  std::unordered_map<uint64_t, OldRights> old_rights;
  sys::Descriptor kept_dir;                          // once there is one (replaced_backup.cc)
  std::unordered_set<uint64_t> skipped_dirs;         // lower did not take them
  std::unordered_set<uint64_t> open_inodes;          // open when the drain began
  std::unordered_set<uint64_t> postponed_inodes;     // their names are left to a later drain
  std::unordered_set<uint64_t> dirs_with_postponed;  // such a name is in or below them
  std::optional<bool> is_shared;  // other pools cover the directory too; none: not yet known
  std::unordered_set<uint64_t> removed_dirs;               // removed in lower, not by a drain
  std::unordered_set<uint64_t> dirs_with_unknown_entries;  // in or below them
  // Directories of which the drain has checked that they hold no unknown entry: to each, the newest
  // time in lower.
  std::unordered_map<uint64_t, uint64_t> unchanged_dirs;
};

}  // namespace cairn::tier
