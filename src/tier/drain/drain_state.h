// DrainState is what the steps of a drain share. The steps themselves are declared here too, each
// group under the file that holds it.
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
#include "tier/lower/import_lock.h"
#include "tier/lower/lower.h"
#include "tier/record/attributes.h"
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

// --- drain_state.cc ---
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

// --- while_running.cc ---
// Is the file left to a later drain, because other nodes would read it in lower, and a process that
// has it open could still write to it without their knowledge?
bool is_open_among_nodes(DrainState& state, const file::Map& map);

// Notes the files that are open now.
void note_open_files(DrainState& state);
// Is this undrained file left to a later drain? If one of its names is, so are all.
bool is_postponed(DrainState& state, const Where& where, const file::Listed& listed,
                  const file::Map& map);
// Leaves a file, with all its names, to a later drain.
void postpone(DrainState& state, const Where& where, const file::Map& map);

// --- drain_file.cc ---
// Drains a name that is not a directory's.
struct Aside;
void drain_name(const DrainName& item);
// The steps of drain_name(). needs_writing() tells whether a file is to be written under this name,
// and what lower must have there before. write_aside() writes it under a temporary name. When that
// is durable, take_aside() gives it its name. Tried::again: the file has changed meanwhile.
// Tried::crowded: no descriptor was free, because other temporary files are open. Tried::staged:
// the pool has the bytes of a lazy file by now.
bool needs_writing(const DrainName& item, InLower* expected);
enum class Tried : uint8_t { done, failed, again, crowded, staged };
Tried write_aside(const DrainName& item, Aside* aside);
Tried take_aside(const DrainName& item, int64_t synced, Aside* aside);
// Notes in `aside` what the pool says of the file, before it is copied.
void note_before_copy(const DrainName& item, Aside* aside);
// Removes a temporary file, whose bytes then do not count as drained.
void remove_copy(DrainState& state, int directory, const Aside& aside);
// Calls once() again, a few times at most, while it returns Tried::again: the file is being
// changed. A drain while programs run calls it once, and leaves such a file to a later drain.
Tried try_again(const DrainName& item, const std::function<Tried()>& once);
// --- drain_together.cc ---
// Collects small files of one directory, and drains them together.
class Together {
 public:
  // All temporary files together take no more than this in lower.
  static constexpr uint64_t most_bytes = 8 << 20;
  static constexpr uint64_t largest = 256 << 10;
  static bool suits(file::FileSystem& fs, const Where& where, const file::Listed& listed,
                    const file::Map& map);

  Together(DrainState& state, const Where& where, LowerDirectory& lower)
      : state_(state), where_(where), lower_(lower) {}
  // Adds a file. If there is no room for it, drains the others first.
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
  // Drains files from this one on, as many as there are descriptors for and at least one. Returns
  // the first of the next ones.
  size_t drain_some(size_t from);

  std::vector<One> files_;
  uint64_t bytes_ = 0;
};
// May the name be replaced in lower? Way::free: yes; a directory that the pool remembers there has
// been removed. Way::not_needed: lower has the same already (take_same_special). Way::blocked:
// lower has something else there, and a conflict was reported.
enum class Way : uint8_t { free, not_needed, blocked };
Way clear_name(const DrainName& item, InLower* expected);
// Takes over what lower has under the name, if it holds no bytes and is the same (a symbolic link
// with the same target; a FIFO or socket of the same mode and owner). A drain of another node, or a
// program outside Cairn, has made it. True: the pool counts it as drained.
bool take_same_special(const DrainName& item);
// --- drain_link.cc ---
// True: lower has the name as a link to the file's first name, or an error was reported.
bool drain_link(const DrainName& item);
void note_linked(DrainState& state, const Where& where, const file::Listed& listed,
                 const file::Map& map, const file::Witness& witness, const CopiedFrom& copied);
void finish_links(DrainState& state);
// --- drain_moved.cc ---
// True: lower's file has the name now, or an error was reported.
bool drain_moved(const DrainName& item, InLower expected);
// --- moved_directory.cc ---
// The path in lower of the name that had the slot `unit` - 1 of directory `parent`; "" if it is not
// known any more. `*listed`: the name that has the slot now.
std::string old_path_of(DrainState& state, uint64_t parent, uint64_t unit, file::Listed* listed);
// Where lower has the file of an item that was renamed, alone or with a directory above it; "" if
// that is not known. `*remembered`: what the pool remembers of the file there.
std::string old_path_of_file(const DrainName& item, file::Witness* remembered);
// Notes in DrainState::old_paths where lower has a directory of `where` that was moved there, and
// its rights.
void note_old_path(DrainState& state, const Where& where, const file::Listed& listed,
                   const file::Map& map);
// The directory that lower had at `path` was moved to `kept`.
void note_kept_path(DrainState& state, const std::string& path, const std::string& kept);
// Is the file unchanged since lower had it, in a directory that was moved in the pool since?
bool has_only_moved_with_directory(const Where& where, const file::Listed& listed,
                                   const file::Map& map);
// --- drain_lazy.cc ---
// Sets mode, owner, times and attributes of a file whose bytes were never staged. False: they have
// been staged, and the caller writes the file.
bool drain_lazy(const DrainName& item);
// --- publish.cc ---
struct Aside {
  std::string name;       // temporary, in the directory where the file belongs
  sys::Descriptor file;   // open until it is durable; none if there are no bytes
  uint64_t copied = 0;    // bytes
  sys::FileStat st = {};  // of the temporary file
  InLower expected = InLower::nothing;
  uint64_t shape = 0;  // of the inode when the copy began
  CopiedFrom from;
  uint64_t rights = 0;  // of the pool (noted_rights), which `st` has where lower did not differ
  int64_t clock = 0;    // clock_set_to() when the copy began
  bool mark = true;     // the inode then counts as drained as of `from`
  bool has_company = false;  // other temporary files are open, and are closed before a retry
};
file::Witness witness_of(const DrainState& state, const Aside& aside);
// A temporary file of the drain's name, which is still to be made.
Aside new_aside(const DrainName& item, InLower expected);
// Notes in the journal that the temporary file is about to be made.
Status announce_aside(const DrainName& item, const Aside& aside);
// Renames the temporary file to its name, if lower still has there what was expected, and notes it
// in the pool. False: it failed, and a report was made.
bool publish(const DrainName& item, const Aside& aside);
Status recover_journal(DrainState& state);
// --- drain_anew.cc ---
// A file in lower whose attributes were changed in the pool.
struct LazyFile {
  sys::Descriptor fd;
  sys::FileStat st = {};      // as it was found
  bool is_readable = true;    // `fd` is open for reading
  bool is_opened_up = false;  // its mode refused that, and was changed
  file::Attributes wanted = {};
  Rights rights = {};            // of `wanted`
  file::Attributes of_new = {};  // of a new file in its place
  Aside aside;                   // that file
};
// How long a drain waits for a process that stages the file. Beside programs that process may wait
// for room, which only the rest of the drain can make.
inline uint64_t import_patience_ns(const DrainState& state) {
  constexpr uint64_t patience_ns = 20'000'000;
  return state.leaves_busy_files() ? patience_ns : ImportLock::forever;
}
// Writes a new file with the bytes of the one in lower and the attributes of the pool, and gives it
// the name. Holds the ImportLock for that last step only. ESTALE: the file has changed meanwhile.
// Other errors were not reported either, and lower is as it was.
Result<Tried> drain_anew(const DrainName& item, LazyFile* old);
// --- drain_directory.cc ---
// Makes sure that lower has the directory. False: it has not, and a report was made. `witness`: of
// the directory there.
bool drain_directory(const DrainName& item, std::optional<file::Witness>* witness);
// --- unknown_entries.cc ---
// If this directory of `where` has changed in lower since the pool saw it, compares its entries
// with those that the pool knows. Notes if lower does not have the directory any more.
void look_for_foreign(DrainState& state, const Where& where, const file::Listed& listed,
                      const file::Map& map);
// Notes that this directory of lower holds an entry that the pool does not know, so it is not
// removed with its contents.
void note_foreign(DrainState& state, uint64_t directory);
// --- replaced_backup.cc ---
// Does lower have bytes under this name, which another inode has now, that are still to be written
// elsewhere? A drain that is limited to some files has not looked for these, so it assumes that. So
// does a drain during which a file was moved.
bool is_moved_from(const DrainState& state, const Where& where, const file::Listed& listed,
                   const file::Map& map);
// Called before a name in lower is replaced. They keep the old file until the end of a drain that
// could do everything: by a link to it, or by moving it away. False: it cannot be kept (no room for
// a directory, no links, another file system).
bool keep_linked(DrainState& state, int directory, const file::Listed& listed);
bool keep_moved(DrainState& state, const Where& where, int directory, const file::Listed& listed);
// Removes all kept files, including those of earlier drains. The error names the first that cannot
// be removed.
Status end_kept(DrainState& state);
// --- finish.cc ---
void finish(DrainState& state, const Where& top);
// --- remove.cc ---
// Removes the directory in lower that the pool remembers under this name, with all that is in it.
// ESTALE: an entry in it has later times than the witness holds, so somebody has changed it;
// nothing was removed.
Status remove_tree(DrainState& state, const Where& where, int directory,
                   const file::Listed& listed);
// Does the same for a directory whose name another file gets, but keeps the directory if it can.
Status replace_tree(DrainState& state, const Where& where, int directory,
                    const file::Listed& listed);

}  // namespace cairn::tier
