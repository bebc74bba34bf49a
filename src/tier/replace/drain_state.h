// DrainState is what the steps of a drain share.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "file/inode/attributes.h"
#include "file/namespace/name_changes.h"
#include "tier/changes/changes.h"
#include "tier/changes/drain_calls.h"
#include "tier/changes/where.h"
#include "tier/claim/membership.h"
#include "tier/lower/beneath.h"
#include "tier/lower/lower.h"
#include "tier/record/attributes.h"
#include "tier/record/drain_mode.h"
#include "tier/record/journal.h"
#include "tier/record/record.h"

namespace cairn::tier {

// Files of a directory are drained together up to this size each (drain_together.h), and their
// temporary files take no more than so many bytes of lower.
inline constexpr uint64_t largest_together = 256 << 10;
inline constexpr uint64_t most_bytes_together = 8 << 20;

struct DrainState;

// A directory of lower, opened when something is to be done in it.
class LowerDirectory {
 public:
  LowerDirectory(DrainState& state, const Where& where) : state_(state), where_(where) {}
  // -errno or the descriptor. -ESTALE: another directory has its place.
  int64_t fd();
  // Called before names in it change. The pool then remembers that the directory's own times are to
  // be set again, and that changes in it during the next seconds are the drain's. Its owner may
  // write. -errno or the descriptor.
  int64_t touch();
  // The access list of new files. Another user's default list counts only if the pool noted it when
  // it listed the directory: a later one would let others in.
  const NewFileList& list_of_new();
  // Makes the changes durable.
  Status sync();
  // Notes a file that was marked as drained before its name was durable. A volatile pool may do
  // that, because a power loss takes the mark as well. If sync() fails, it removes the mark.
  void note_marked(const file::Map& map) { marked_.push_back(map); }
  [[nodiscard]] bool touched() const { return touched_; }

 private:
  DrainState& state_;
  const Where& where_;
  sys::Descriptor fd_;
  bool touched_ = false;
  std::optional<NewFileList> list_of_new_;
  uint64_t ours_until_ = 0;
  std::vector<file::Map> marked_;
};

// A file with several names, and the first of them that lower has.
struct LinkedFile {
  std::string path;
  file::Witness witness;
  uint64_t generation = 0;
  CopiedFrom copied;
  bool is_complete = true;  // so far each of its names could be drained
};

struct DrainState {
  DrainState(Cover& drained, const Where& covered, const Known& in, const DrainCalls& drain_calls,
             DrainReport& result)
      : fs(*drained.fs),
        top(covered),
        cover(drained),
        known(in),
        calls(drain_calls),
        report(result) {}

  file::FileSystem& fs;
  const Where& top;
  Cover& cover;
  const Known& known;
  const DrainCalls& calls;
  DrainReport& report;
  Beneath beneath;            // the covered directory
  uint64_t owner = no_owner;  // CoverRecord::owner
  uint64_t top_rights = 0;    // CoverRecord::directory_rights
  Journal journal;
  uint64_t links_until = 0;  // as earlier drains have left it
  std::string aside;         // the temporary name of files that this drain writes
  const uint64_t begun = file::now_ns();
  const file::NameChanges seen{fs.pool};  // before the first walk
  uint64_t done = 0;
  uint64_t total = 0;
  bool cancelled = false;
  bool out_of_space = false;
  struct Room {
    uint64_t needed;
    uint64_t free;
  };
  // When the drain began, if lower had not room for all. Then it looks again for each file.
  std::optional<Room> missing_room;
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
  sys::Descriptor kept;                    // the kept directory, once there is one
  std::unordered_set<uint64_t> skipped;    // directories that lower did not take
  std::unordered_set<uint64_t> open;       // inodes that were open when the drain began
  std::unordered_set<uint64_t> postponed;  // names that are left to a later drain
  std::unordered_set<uint64_t> waiting;    // directories with such a name in or below them
  std::optional<bool> is_shared;  // other pools cover the directory too; none: nobody has looked
  std::unordered_set<uint64_t> gone;     // directories that somebody has removed in lower
  std::unordered_set<uint64_t> foreign;  // directories with an unknown entry in or below them
  std::unordered_map<uint64_t, uint64_t>
      looked;  // directories without one: the newest time in lower

  // Reports a name that could not be drained; the detail text of `status` is the cause.
  void failed(const std::string& path, Status status);
  void conflict(const Where& where, const std::string& path, const char* what);
  // Reports a name whose directory could not be opened, or is another one by now (-ESTALE).
  void not_opened(const Where& where, const std::string& path, int64_t result);
  // Has a program moved or removed the directory, or one above it, since the drain began? Then
  // another directory may have its path in lower, which is not a conflict.
  [[nodiscard]] bool has_moved(const Where& where) const;
  // False: the caller wants to stop.
  bool advance(uint64_t bytes);
  [[nodiscard]] bool clean_so_far() const { return report.failed == 0 && report.conflicts == 0; }
  // A name may have moved into a directory that the walks had left already. Lower then has it under
  // its old name only.
  [[nodiscard]] bool have_names_changed() const {
    return file::NameChanges(fs.pool).names != seen.names;
  }
  // Everything has its place in lower now. A name that moves later stays there until the next
  // drain.
  [[nodiscard]] bool is_whole_so_far() const {
    return clean_so_far() && !have_names_changed() && postponed.empty() && calls.only == nullptr &&
           (!calls.while_running || !is_left_to_later(DrainMode::inherit));
  }
  // Are files that programs are using left to a later drain?
  [[nodiscard]] bool leaves_busy_files() const {
    return calls.while_running && !calls.while_running->at_end;
  }
  // Does the rule of this drain leave names with this mode to a later one, quiet or not?
  [[nodiscard]] bool is_left_to_later(DrainMode mode) const {
    if (!calls.while_running) return false;
    if (mode == DrainMode::inherit) mode = calls.while_running->otherwise;
    return mode == DrainMode::never || (mode == DrainMode::exit && !calls.while_running->at_end);
  }
  // Is the inode one that this drain is limited to, or a directory above one? True if it is not
  // limited.
  [[nodiscard]] bool is_asked_for(uint64_t inode) const {
    return calls.only == nullptr || calls.only->count(inode) != 0;
  }
};

// A name of the pool that a drain works on, and where it belongs in lower.
struct DrainName {
  DrainState& state;
  const Where& where;
  LowerDirectory& lower;
  const file::Listed& listed;
  const file::Map& map;
};

// Does set_witness() for a name in a directory that the drain is in. ENOENT also if the directory
// was removed meanwhile.
Status remember(DrainState& state, const Where& where, const std::string& name,
                const file::Witness* witness);

// If the pool has given a directory another owner, does so in lower, and removes the access lists
// that the former owner may have set: new files would get them.
void take_over(DrainState& state, const Where& where, int directory);
// What a directory in lower (`st`) is to have by the end of the drain. False: there is no seat.
bool wanted_rights(DrainState& state, const Where& where, const sys::FileStat& st,
                   file::Attributes* wanted);

// Called before a name of this file is removed or replaced, or another one is made: that changes
// the ctime under its other names.
void announce_links(DrainState& state, const sys::FileStat& st);
// Notes that this directory of lower holds an entry that the pool does not know, so it is not
// removed with its contents.
void note_foreign(DrainState& state, uint64_t directory);

}  // namespace cairn::tier
