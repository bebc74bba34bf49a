// Rename: changes two names in one change, under the locks that this takes.
#include <unordered_set>
#include <vector>

#include "file/inode/shape.h"
#include "file/namespace/locked_name.h"
#include "file/namespace/moved.h"
#include "file/namespace/name_changes.h"
#include "file/namespace/names.h"
#include "file/namespace/victim.h"
#include "file/open/ending.h"

namespace cairn::file {

using namespace names;  // NOLINT(google-build-using-namespace): the parts of this file

namespace {

// Holds the directories' locks for a change of two names, taken in an order that cannot deadlock.
class TwoDirectories {
 public:
  // The rename lock is always taken with `moves_tree`: nothing below may be evicted meanwhile.
  TwoDirectories(FileSystem& fs, LocalSeat& seat, const Map& a, const Map& b, bool moves_tree)
      : pool_(fs.pool), a_(a), b_(b), has_rename_lock_(moves_tree || a.number != b.number) {
    if (has_rename_lock_) pool::acquire(pool_, seat, pool_.state->rename_lock);
    if (a.number == b.number) {
      pool::acquire(pool_, seat, a.inode->lock);
      return;
    }
    const bool b_first = is_below(fs, a.number, b.number) ||
                         (!is_below(fs, b.number, a.number) && b.number < a.number);
    pool::acquire(pool_, seat, b_first ? b.inode->lock : a.inode->lock);
    pool::acquire(pool_, seat, b_first ? a.inode->lock : b.inode->lock);
  }
  ~TwoDirectories() {
    pool::release(pool_, a_.inode->lock);
    if (a_.number != b_.number) pool::release(pool_, b_.inode->lock);
    if (has_rename_lock_) pool::release(pool_, pool_.state->rename_lock);
  }
  TwoDirectories(const TwoDirectories&) = delete;
  TwoDirectories& operator=(const TwoDirectories&) = delete;

  // Returns true if `directory` is at or below `ancestor`. Stable only under the rename lock.
  static bool is_below(FileSystem& fs, uint64_t directory, uint64_t ancestor) {
    for (unsigned depth = 0; depth < 65536; ++depth) {
      if (directory == ancestor) return true;
      if (directory <= format::root_inode) return false;
      const Inode* inode = inode_at(fs, directory);
      if (inode == nullptr || !S_ISDIR(inode->mode.load())) return false;
      directory = inode->directory.parent.load();
    }
    return false;
  }

 private:
  Pool& pool_;
  const Map& a_;
  const Map& b_;
  bool has_rename_lock_;
};

// Holds the locks of up to two inodes, taken in the order of their numbers.
class TwoInodes {
 public:
  TwoInodes(FileSystem& fs, LocalSeat& seat, const Map& a, const Map* b) : pool_(fs.pool) {
    first_ = &a.inode->lock;
    if (b != nullptr && b->number != a.number) second_ = &b->inode->lock;
    if (second_ != nullptr && b->number < a.number) std::swap(first_, second_);
    pool::acquire(pool_, seat, *first_);
    if (second_ != nullptr) pool::acquire(pool_, seat, *second_);
  }
  ~TwoInodes() {
    if (second_ != nullptr) pool::release(pool_, *second_);
    pool::release(pool_, *first_);
  }
  TwoInodes(const TwoInodes&) = delete;
  TwoInodes& operator=(const TwoInodes&) = delete;

 private:
  Pool& pool_;
  Word* first_ = nullptr;
  Word* second_ = nullptr;
};

// Linux's RENAME_WHITEOUT: always refused, after all errors in the names.
constexpr unsigned rename_whiteout = 4;

struct End {
  Map directory;
  Name name;
  bool must_be_directory = false;
  uint64_t found = 0;  // the directory, as found_as() has it

  [[nodiscard]] int length() const { return static_cast<int>(name.length); }
  [[nodiscard]] Status says(int error, const char* what) const {
    return fail(error, "%.*s: %s", length(), name.text, what);
  }
};

bool is_directory(const Map& map) {
  return map.inode != nullptr && S_ISDIR(map.inode->mode.load());
}

// Everything that was staged before the locks were taken, because it moves.
struct Prepared {
  bool has_trees = false;   // directories that lower has are among it
  uint64_t evictions = 0;   // the pool's evictions until then
  uint64_t lost = 0;        // a file whose bytes cannot be read: it is replaced anyway
  bool may_orphan = false;  // replaces a file that lies in lower even if a process has it open
};

// Returns true if anything below a directory lies in lower. While the rename lock is held, nothing
// below can become lazy. The caller is in a seat, and may hold the directory's lock.
bool has_lazy_below(const FileSystem& fs, uint64_t top) {
  std::vector<uint64_t> directories = {top};
  std::unordered_set<uint64_t> met = {top};  // a damaged pool may lead in a circle
  std::vector<Listed> batch(32);
  while (!directories.empty()) {
    const uint64_t number = directories.back();
    directories.pop_back();
    Inode* directory = inode_at(fs, number);
    if (directory == nullptr || is_lazy(*directory)) return true;
    for (uint64_t cookie = 0;;) {
      const auto n = list_slots(fs, {directory, number}, cookie, batch.data(), batch.size());
      if (!n.ok()) return true;
      if (*n == 0) break;
      for (size_t i = 0; i < *n; ++i) {
        const Inode* inode = inode_at(fs, batch[i].inode);
        if (batch[i].whiteout || inode == nullptr || !is_live(*inode)) continue;
        if (is_lazy(*inode)) return true;
        if (S_ISDIR(inode->mode.load()) && met.insert(batch[i].inode).second)
          directories.push_back(batch[i].inode);
      }
      cookie = batch[*n - 1].cookie;
    }
  }
  return false;
}

// One rename, with both directories locked.
class Renaming {
 public:
  Renaming(FileSystem& fs, LocalSeat& seat, const End& from, const End& to, unsigned flags,
           const Prepared& prepared)
      : fs_(fs),
        seat_(seat),
        from_(from),
        to_(to),
        prepared_(prepared),
        exchange_((flags & rename_exchange) != 0),
        may_replace_((flags & rename_no_replace) == 0),
        wants_whiteout_((flags & rename_whiteout) != 0) {}

  Status run() {
    CAIRN_TRY(check_alive(from_.directory, from_.found));
    CAIRN_TRY(check_alive(to_.directory, to_.found));
    CAIRN_TRY(find());
    if (moved_.number == other_.number) return Status();  // two names of one file: nothing to do
    CAIRN_TRY(check());
    if (other_.inode == nullptr) CAIRN_TRY(grow_index(fs_, seat_, to_.directory));
    TwoInodes inodes(fs_, seat_, moved_, other_.inode == nullptr ? nullptr : &other_);
    if (replaces() && is_directory(other_) &&
        (other_.inode->directory.entries.load() != 0 || is_lazy(*other_.inode)))
      return to_.says(ENOTEMPTY, "directory not empty");
    if (wants_whiteout_) return from_.says(EINVAL, "cannot leave a whiteout");
    CAIRN_TRY(check_own(moved_, source_));
    if (exchange_) CAIRN_TRY(check_own(other_, target_));
    return replaces() && needs_its_name(other_) ? became_lazy : change();
  }

  // Returns the inode that has lost a name for good, 0 if none.
  [[nodiscard]] uint64_t removed() const { return removed_; }

 private:
  [[nodiscard]] bool replaces() const { return other_.inode != nullptr && !exchange_; }
  [[nodiscard]] bool across() const { return from_.directory.number != to_.directory.number; }

  // Returns true for a lazy file that a process has open, whose bytes are found by its name. Lower
  // has the only copy of an evicted file's bytes.
  bool needs_its_name(const Map& map) const {
    const Inode& inode = *map.inode;
    if (fs_.lower == nullptr || is_directory(map) || !is_lazy(inode) || inode.opens.load() == 0 ||
        map.number == prepared_.lost)
      return false;
    return !prepared_.may_orphan || (inode.flags.load() & format::flag_evicted) != 0;
  }

  // Returns became_lazy if a moved file lies in lower again, or a file below a moved directory may.
  Status check_own(const Map& map, const DirentSlot& slot) const {
    if (fs_.lower == nullptr || map.inode == nullptr) return Status();
    if (!is_directory(map)) return is_lazy(*map.inode) ? became_lazy : Status();
    if (!slot.has_lower) return Status();
    // The inode has become one that lower has since the locks were chosen.
    if (!prepared_.has_trees) return became_lazy;
    const bool is_own =
        fs_.pool.state->evictions.load() == prepared_.evictions || !has_lazy_below(fs_, map.number);
    return is_own ? Status() : became_lazy;
  }

  Status find() {
    auto source = find_existing(fs_, from_.directory, from_.name);
    if (!source.ok()) return source.status();
    source_ = *source;
    auto moved = live_map(fs_, source->inode);
    if (!moved.ok()) return moved.status();
    moved_ = *moved;
    auto target = find_name(fs_, to_.directory, to_.name, true);
    if (!target.ok() && target.code() != ENOENT) return target.status();
    if (target.ok() && target->inode == to_.directory.number)
      return find_existing(fs_, to_.directory, to_.name).status();  // which reports it
    if (target.ok()) target_ = *target;  // also a whiteout, which the name takes over
    const bool there = target.ok() && !target_.is_whiteout();
    if (there && !may_replace_) return to_.says(EEXIST, "file exists");
    if (!there && exchange_) return to_.says(ENOENT, "no such file or directory");
    if (!is_directory(moved_) && (from_.must_be_directory || (to_.must_be_directory && !exchange_)))
      return from_.says(ENOTDIR, "not a directory");
    if (!there) return Status();
    auto other = live_map(fs_, target_.inode);
    if (other.ok()) other_ = *other;
    return other.status();
  }

  // Checks directories: none moves below itself, and one replaces only an empty directory.
  Status check() {
    if (is_directory(moved_) && TwoDirectories::is_below(fs_, to_.directory.number, moved_.number))
      return from_.says(EINVAL, "cannot move below itself");
    if (other_.inode == nullptr) return Status();
    const bool above_source = is_directory(other_) &&
                              TwoDirectories::is_below(fs_, from_.directory.number, other_.number);
    if (exchange_) {
      return above_source ? to_.says(EINVAL, "cannot move below itself") : Status();
    }
    // An ancestor of the source is not empty; the error is returned before its lock is taken.
    if (above_source) return to_.says(ENOTEMPTY, "directory not empty");
    if (is_directory(moved_) && !is_directory(other_)) return to_.says(ENOTDIR, "not a directory");
    if (!is_directory(moved_) && is_directory(other_)) return to_.says(EISDIR, "is a directory");
    return Status();
  }

  Status change() {
    const uint64_t now = now_ns();
    note_name_change(fs_.pool);
    if (!is_directory(moved_)) note_home_left(fs_.pool, *moved_.inode);
    const bool stays = exchange_ || (other_.inode != nullptr && other_.inode->links.load() > 1);
    if (stays && !is_directory(other_)) note_home_left(fs_.pool, *other_.inode);
    pool::RedoChange change(fs_.pool, seat_);
    // Openers wait from here on: none can open a file whose bytes in lower have lost their name.
    std::optional<EndAtOnce> replaced;
    if (replaces() && !is_directory(other_) && is_lazy(*other_.inode) &&
        other_.inode->links.load() == 1)
      replaced.emplace(fs_, seat_, other_);
    const bool at_once = replaced.has_value() && replaced->possible();
    // Opened a moment ago.
    if (replaces() && !at_once && needs_its_name(other_)) return became_lazy;
    const unsigned moved_type = type_of(moved_.inode->mode.load());
    if (other_.inode != nullptr) {
      replace_name(change, target_, moved_.number, moved_type);
      change.set(other_.inode->ctime, now);
    } else {
      CAIRN_TRY(insert_name(fs_, seat_, change, to_.directory, to_.name, target_,
                            {moved_.number, moved_type, now, nullptr}));
    }
    if (exchange_)
      replace_name(change, source_, other_.number, type_of(other_.inode->mode.load()));
    else  // its slot was looked up before the insertion; it has not moved, but its chain may have
      CAIRN_TRY(remove_name(fs_, change, from_.directory, source_, from_.name, now));
    count_links(change);
    for (const End* end : {&from_, &to_}) {
      change.set(end->directory.inode->mtime, now);
      change.set(end->directory.inode->ctime, now);
    }
    change.set(moved_.inode->ctime, now);
    note_move(fs_, change, moved_, from_.directory, source_, now);
    note_left_home(change, *moved_.inode, from_.directory, source_);
    if (exchange_) note_move(fs_, change, other_, to_.directory, target_, now);
    if (stays) note_left_home(change, *other_.inode, to_.directory, target_);
    std::optional<DirectoryChange> first;
    std::optional<DirectoryChange> second;
    first.emplace(fs_, seat_, *from_.directory.inode, from_.directory.number);
    if (across()) second.emplace(fs_, seat_, *to_.directory.inode, to_.directory.number);
    if (at_once) replaced->add(change);
    CAIRN_TRY(change.commit());
    if (at_once) {
      replaced->finish();
      removed_ = 0;
    }
    return Status();
  }

  void count_links(pool::RedoChange& change) {
    const auto add = [&change](const Map& map, int64_t n) {
      change.set(map.inode->links, change.get(map.inode->links) + static_cast<uint64_t>(n));
    };
    if (replaces()) {
      if (is_directory(other_)) {
        change.set(other_.inode->links, 0);
        add(to_.directory, -1);
      } else {
        add(other_, -1);
      }
      if (change.get(other_.inode->links) == 0) removed_ = other_.number;
    }
    if (!across()) return;
    if (is_directory(moved_)) {
      add(from_.directory, -1);
      add(to_.directory, 1);
      change.set(moved_.inode->directory.parent, to_.directory.number);
    }
    if (exchange_ && is_directory(other_)) {
      add(to_.directory, -1);
      add(from_.directory, 1);
      change.set(other_.inode->directory.parent, from_.directory.number);
    }
  }

  FileSystem& fs_;
  LocalSeat& seat_;
  const End& from_;
  const End& to_;
  const Prepared& prepared_;
  bool exchange_;
  bool may_replace_;
  bool wants_whiteout_;
  DirentSlot source_;
  DirentSlot target_;
  Map moved_;
  Map other_;
  uint64_t removed_ = 0;
};

Status check_last(const RenameEnd& given) {
  if (given.name != "." && given.name != "..") return Status();
  return fail(EBUSY, "\"%.*s\" cannot be renamed", static_cast<int>(given.name.size()),
              given.name.data());
}

// Finds one end's directory and enters it.
Status enter(FileSystem& fs, const RenameEnd& given, End* end) {
  auto name = checked_name(given.name);
  if (!name.ok()) return name.status();
  auto directory = enter_directory(fs, given.parent);
  if (!directory.ok()) return directory.status();
  *end = {*directory, *name, given.must_be_directory, given.parent};
  return Status();
}

// Stages the inode that moves, so that it no longer depends on its path in lower.
Status make_own(FileSystem& fs, const Map& directory, const Name& name, Prepared* prepared) {
  CAIRN_TRY_ASSIGN(number, lower_inode(fs, directory, name));
  if (number == 0) return Status();
  auto map = live_map(fs, number);
  prepared->has_trees = prepared->has_trees || (map.ok() && is_directory(*map));
  return fs.lower->stage_tree(number);
}

Status rename_once(FileSystem& fs, const End& from, const End& to, unsigned flags,
                   bool may_orphan) {
  Prepared prepared;
  prepared.may_orphan = may_orphan;
  prepared.evictions = fs.pool.state->evictions.load();
  CAIRN_TRY(make_own(fs, from.directory, from.name, &prepared));
  if ((flags & rename_exchange) != 0)
    CAIRN_TRY(make_own(fs, to.directory, to.name, &prepared));
  else
    CAIRN_TRY(fill_victim(fs, to.directory, to.name, &prepared.lost));
  CAIRN_TRY(sync_what_replaces(fs, {from.directory, from.name}, {to.directory, to.name},
                               (flags & rename_exchange) != 0));
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  uint64_t removed = 0;
  {
    TwoDirectories locks(fs, *seat, from.directory, to.directory, prepared.has_trees);
    Renaming renaming(fs, *seat, from, to, flags, prepared);
    CAIRN_TRY(renaming.run());
    removed = renaming.removed();
  }
  if (removed != 0) end_if_unused(fs, *seat, removed);
  return Status();
}

}  // namespace

Status rename(FileSystem& fs, const RenameEnd& from_end, const RenameEnd& to_end, unsigned flags) {
  CAIRN_TRY(fs.pool.check_writable());
  if ((flags & ~(rename_no_replace | rename_exchange | rename_whiteout)) != 0 ||
      ((flags & rename_exchange) != 0 && flags != rename_exchange))
    return fail(EINVAL, "rename flags %#x are not supported", flags);
  End from;
  End to;
  CAIRN_TRY(check_last(from_end));
  CAIRN_TRY(check_last(to_end));
  CAIRN_TRY(enter(fs, from_end, &from));
  CAIRN_TRY(enter(fs, to_end, &to));
  for (int tries = 1; tries <= most_tries_to_stage; ++tries) {
    const Status status = rename_once(fs, from, to, flags, tries > most_tries_to_stage / 2);
    if (status != became_lazy) return status;
  }
  return fail(ENOSPC,
              "%.*s: cannot rename: it is read into the pool first, and the pool is full; drain it "
              "or make it larger",
              from.length(), from.name.text);
}

}  // namespace cairn::file
