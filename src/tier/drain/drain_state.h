// What the parts of a drain share.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "file/namespace/name_changes.h"
#include "tier/changes/changes.h"
#include "tier/changes/drain_calls.h"
#include "tier/changes/where.h"
#include "tier/claim/membership.h"
#include "tier/lower/beneath.h"
#include "tier/lower/lower.h"
#include "tier/record/drain_mode.h"
#include "tier/record/journal.h"
#include "tier/record/record.h"

namespace cairn::tier {

struct DrainState;

// A directory of lower, opened when something is to be done in it.
class LowerDirectory {
 public:
  LowerDirectory(DrainState& state, const Where& where) : state_(state), where_(where) {}
  // -errno or the descriptor. -ESTALE: another directory has its place.
  int64_t fd();
  // Before its names change: the pool remembers that the directory's own times are to be set again
  // and that what is new in it for the next seconds is ours, and its owner may write.
  int64_t touch();
  // What changed becomes durable.
  Status sync();
  // A file was marked as drained although its name may not be durable yet: the pool is volatile, so
  // a power loss takes the mark with it. If sync() fails, the mark goes.
  void note_marked(const file::Map& map) { marked_.push_back(map); }
  [[nodiscard]] bool touched() const { return touched_; }

 private:
  DrainState& state_;
  const Where& where_;
  sys::Descriptor fd_;
  bool touched_ = false;
  uint64_t ours_until_ = 0;
  std::vector<file::Map> marked_;
};

// A file with several names, at the first of them that lower has.
struct LinkedFile {
  std::string path;
  file::LowerIdentity identity;
  uint64_t generation = 0;
  uint64_t change_time = 0;
  bool is_complete = true;  // so far each of its names could be drained
};

struct DrainState {
  DrainState(Cover& drained, const Where& covered, const Known& in, const DrainCalls& drain_calls,
             DrainReport& result)
      : fs(*drained.fs),
        top(covered),
        lower(lower_of(fs)),
        cover(drained),
        known(in),
        calls(drain_calls),
        report(result) {}

  file::FileSystem& fs;
  const Where& top;
  LowerTree& lower;
  Cover& cover;
  const Known& known;
  const DrainCalls& calls;
  DrainReport& report;
  Beneath beneath;            // the covered directory
  uint64_t owner = no_owner;  // CoverRecord::owner
  Journal journal;
  uint64_t links_until = 0;  // as the drains before have left it
  std::string aside;         // the name under which this drain writes, in whichever directory
  const uint64_t begun = file::now_ns();
  const file::NameChanges seen{fs.pool};  // before the first walk
  uint64_t done = 0;
  uint64_t total = 0;
  bool cancelled = false;
  bool out_of_space = false;
  std::map<uint64_t, LinkedFile> linked;
  // Directory and unit + 1 of the names in lower that hold bytes of files which are to be written
  // elsewhere.
  std::set<std::pair<uint64_t, uint64_t>> moved_from;
  // Of directories that lower has under another name, which they had before a move: where they are.
  std::unordered_map<uint64_t, std::string> old_paths;
  sys::Descriptor kept;                    // the directory of what was replaced, once there is one
  std::unordered_set<uint64_t> skipped;    // directories that lower did not take
  std::unordered_set<uint64_t> open;       // inodes that were open when the drain began
  std::unordered_set<uint64_t> postponed;  // names that are left to a later drain
  std::unordered_set<uint64_t> waiting;    // directories with such a name in or below them
  std::optional<bool> is_shared;  // other pools cover the directory too; none: nobody has looked
  std::unordered_set<uint64_t> gone;     // directories that somebody has removed in lower
  std::unordered_set<uint64_t> foreign;  // directories that lower has something unknown in or below
  std::unordered_map<uint64_t, uint64_t>
      looked;  // directories that it has not: the newest time there

  // One line for the caller; the detail text of `status` is the cause.
  void failed(const std::string& path, Status status);
  void conflict(const Where& where, const std::string& path, const char* what);
  // A name in a directory that could not be opened, or is another one by now (-ESTALE).
  void not_opened(const Where& where, const std::string& path, int64_t result);
  // Whether a program has moved or removed the directory since the drain began, or one above it:
  // then its path in lower is another one's, which is no conflict.
  [[nodiscard]] bool has_moved(const Where& where) const;
  // False: the caller wants to stop.
  bool advance(uint64_t bytes);
  [[nodiscard]] bool clean_so_far() const { return report.failed == 0 && report.conflicts == 0; }
  // A name may have moved to where the walks had been already, and lower has it nowhere but under
  // its old name.
  [[nodiscard]] bool have_names_changed() const {
    return file::NameChanges(fs.pool).names != seen.names;
  }
  // Everything has its place in lower, as of now: what moves from there later leaves it there.
  [[nodiscard]] bool is_whole_so_far() const {
    return clean_so_far() && !have_names_changed() && postponed.empty() && calls.only == nullptr &&
           (!calls.while_running || !is_left_to_later(DrainMode::inherit));
  }
  // Whether the rule of this drain leaves a name with this mode to a later one, quiet or not.
  [[nodiscard]] bool is_left_to_later(DrainMode mode) const {
    if (!calls.while_running) return false;
    if (mode == DrainMode::inherit) mode = calls.while_running->otherwise;
    return mode == DrainMode::never || (mode == DrainMode::exit && !calls.while_running->at_end);
  }
  // Whether this drain is about the inode, or leads to what it is about.
  [[nodiscard]] bool is_asked_for(uint64_t inode) const {
    return calls.only == nullptr || calls.only->count(inode) != 0;
  }
};

// A name of the pool that a drain has come to, and where it belongs in lower.
struct DrainName {
  DrainState& state;
  const Where& where;
  LowerDirectory& lower;
  const file::Listed& listed;
  const file::Map& map;
};

// --- drain_state.cc ---
// --- changes.cc ---
// set_identity() for a name in a directory that a drain is in. ENOENT also if the directory was
// removed meanwhile.
Status remember(DrainState& state, const Where& where, const std::string& name,
                const file::LowerIdentity* identity);

// Before a name of this file is removed or replaced, or gets another one: its other names get a new
// ctime by that.
void announce_links(DrainState& state, const struct stat& st);

// --- while_running.cc ---
// Whether the file is left to a later drain because other nodes would read its version in lower,
// and a process that has it open could write to it without telling them.
bool is_open_among_nodes(DrainState& state, const file::Map& map);

// --- while_running.cc ---
// Looks for the files that are open now.
void note_open_files(DrainState& state);
// Whether a name that is not drained, and no directory, is left to a later drain. Once it is, so
// are all names of its file.
bool is_postponed(DrainState& state, const Where& where, const file::Listed& listed,
                  const file::Map& map);
// Leaves a file, with all its names, to a later drain.
void postpone(DrainState& state, const Where& where, const file::Map& map);

// --- drain_file.cc: everything that is no directory ---
struct Aside;
void drain_name(const DrainName& item);
// Its parts. Whether anything is to be written under this name, what is to be in lower then, and in
// which steps: it is written beside it; once that is durable, it gets its name. Again: the file has
// changed meanwhile. Crowded: no descriptor was free, and others like it hold some.
bool needs_writing(const DrainName& item, InLower* expected);
enum class Tried : uint8_t { done, failed, again, crowded };
Tried write_aside(const DrainName& item, Aside* aside);
Tried take_aside(const DrainName& item, int64_t synced, Aside* aside);
// --- drain_together.cc ---
// Small files of one directory, which become durable together.
class Together {
 public:
  // What all of them may take in lower besides what they replace.
  static constexpr uint64_t most_bytes = 8 << 20;
  static constexpr uint64_t largest = 256 << 10;
  static bool suits(file::FileSystem& fs, const Where& where, const file::Listed& listed,
                    const file::Map& map);

  Together(DrainState& state, const Where& where, LowerDirectory& lower)
      : state_(state), where_(where), lower_(lower) {}
  // Drains those before it first if there is no room for it.
  void add(const file::Listed& listed, const file::Map& map);
  void drain();

 private:
  struct One {
    file::Listed listed;
    file::Map map;
  };
  DrainState& state_;
  const Where& where_;
  LowerDirectory& lower_;
  // As many as there are descriptors for, one at least, from this one on; where the next ones
  // begin.
  size_t drain_some(size_t from);

  std::vector<One> files_;
  uint64_t bytes_ = 0;
};
// What the pool remembers under a name may be replaced; a directory there goes first. Not needed:
// what is to come is there already (take_same_special). Blocked: something else is there, which has
// been told.
enum class Way : uint8_t { free, not_needed, blocked };
Way clear_name(const DrainName& item, InLower* expected);
// True if the name holds no bytes and the same is there already (a symbolic link to the same, a
// FIFO or socket of the same mode and owner), made behind our back or by the drain of another node
// that has it too: it is the pool's now.
bool take_same_special(const DrainName& item);
// --- drain_link.cc ---
// True if the name is dealt with: it now is a link to its first name.
bool drain_link(const DrainName& item);
void note_linked(DrainState& state, const Where& where, const file::Listed& listed,
                 const file::Map& map, const file::LowerIdentity& identity, uint64_t change_time);
void finish_links(DrainState& state);
// --- drain_moved.cc ---
// True if the name is dealt with: lower's file has it now, or that failed, which has been told.
bool drain_moved(const DrainName& item, InLower expected);
// --- moved_directory.cc ---
// The path in lower of the name that had the slot `unit` - 1 of directory `parent`; "" if it is not
// known any more. `*listed` is what has the slot now.
std::string old_path_of(DrainState& state, uint64_t parent, uint64_t unit, file::Listed* listed);
// For a directory of `where` that lower does not have there: DrainState::old_paths.
void note_old_path(DrainState& state, const Where& where, const file::Listed& listed,
                   const file::Map& map);
// The directory that lower had at `path` lies at `kept` from now on.
void note_kept_path(DrainState& state, const std::string& path, const std::string& kept);
// The file is as it was when lower had it, in a directory that the pool has moved since.
bool has_only_moved_with_directory(const Where& where, const file::Listed& listed,
                                   const file::Map& map);
// --- drain_lazy.cc ---
// Mode, owner, times and attributes of a file whose bytes were never staged. False: they are now.
bool drain_lazy(const DrainName& item);
// --- publish.cc ---
struct Aside {
  std::string name;      // beside where it is to be
  sys::Descriptor file;  // open until it is durable; none if there are no bytes
  uint64_t copied = 0;   // of these
  struct stat st = {};   // of what was written aside
  InLower expected = InLower::nothing;
  uint64_t shape = 0;  // when it was begun
  uint64_t change_time = 0;
  int64_t clock = 0;         // clock_set_to() when it was begun
  bool mark = true;          // it counts as drained at that time
  bool has_company = false;  // others are open, which will be closed before it is tried again
};
// Renames what was written aside to its name, if that still is as expected, and notes it in the
// pool. False: it could not be done, which has been told.
bool publish(const DrainName& item, const Aside& aside);
Status recover_journal(DrainState& state);
// --- drain_directory.cc ---
// Makes sure that lower has the directory; false if it has not, which has been told. `identity`:
// which one it is.
bool drain_directory(const DrainName& item, std::optional<file::LowerIdentity>* identity);
// --- unknown_entries.cc ---
// A directory of `where`: if it has changed in lower since the pool saw it, what lies there is
// compared with what the pool knows. If it is not there any more, that is noted.
void look_for_foreign(DrainState& state, const Where& where, const file::Listed& listed,
                      const file::Map& map);
// Something that the pool does not know lies in this directory of lower, which so is not removed
// with its contents.
void note_foreign(DrainState& state, uint64_t directory);
// --- replaced_backup.cc ---
// The bytes that lower has under this name, which is the inode's now, are still to be written
// elsewhere. A drain of some files has not looked where, so it takes them for such. So does a drain
// during which a file has left its name.
bool is_moved_from(const DrainState& state, const Where& where, const file::Listed& listed,
                   const file::Map& map);
// Before a name is replaced: what it was stays until the end of a drain that could do everything.
// It gets a second name, or is moved away. False: it cannot be kept (no room for a directory, no
// links, another file system).
bool keep_linked(DrainState& state, int directory, const file::Listed& listed);
bool keep_moved(DrainState& state, const Where& where, int directory, const file::Listed& listed);
// All that is kept goes, also what drains before have left. The error names the first that stays.
Status end_kept(DrainState& state);
// --- finish.cc ---
void finish(DrainState& state, const Where& top);
// --- remove.cc ---
// Removes the directory in lower that the pool remembers under this name, with
// all that is in it, if nobody else has changed it: nothing in it has times later than the identity
// says. ESTALE if something has; then nothing was removed.
Status remove_tree(DrainState& state, const Where& where, int directory,
                   const file::Listed& listed);
// As remove_tree(), for a directory whose name is given to something else: it is kept, if it can
// be.
Status replace_tree(DrainState& state, const Where& where, int directory,
                    const file::Listed& listed);

}  // namespace cairn::tier
