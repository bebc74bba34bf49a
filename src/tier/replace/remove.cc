#include "tier/replace/remove.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <vector>

#include "tier/replace/drain_notes.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/replaced_backup.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

Status changed_since_import(const std::string& path) {
  return fail(ESTALE, "%s: it was changed since it was imported", path.c_str());
}

// `newest`: lower is known to the pool as it was at this time. `begun`: since then this drain
// changes it. `links_until`: until then a drain may have removed links.
struct KnownTimes {
  uint64_t newest;
  uint64_t begun;
  uint64_t links_until;
};

// Was the file changed after that time? A change makes both times later. A later mtime alone may be
// one that a user has set. A later ctime alone may come from another link that was made or removed;
// it counts for a file without other links, if no drain can have removed one.
bool is_later(const sys::FileStat& st, const KnownTimes& span) {
  if (sys::ctime_of(st) <= span.newest) return false;
  const bool is_single = S_ISREG(st.st_mode) && st.st_nlink == 1;
  return static_cast<int64_t>(sys::mtime_of(st)) > static_cast<int64_t>(span.newest) ||
         (is_single && sys::ctime_of(st) < span.begun && sys::ctime_of(st) > span.links_until);
}

// Deeper trees are not removed. Each level takes a descriptor, and other users may be able to make
// a tree of any depth.
constexpr size_t deepest = 4096;

Status too_deep(const std::string& path) {
  return fail(ENAMETOOLONG, "%.200s...: a tree of more than %zu levels", path.c_str(), deepest);
}

// The directory at the top of a tree.
struct Root {
  const KnownCover& known;
  const file::Witness& witness;
};

// Removing names changes the times of directories. This notes in the directory's witness, before
// the removals, until when its times may be this drain's. If this drain is killed, the next one
// compares with that.
class Announced {
 public:
  Announced(DrainState& state, const DrainDirectory& where, const file::Listed& listed)
      : state_(state), where_(where), name_(name_of(listed)), witness_(listed.lower) {}
  void again(const sys::FileStat& st) {
    announce_links(state_, st);
    constexpr uint64_t second = 1'000'000'000;
    if (file::now_ns() + 5 * second < until_) return;
    until_ = file::now_ns() + 10 * second;
    witness_.size = until_;
    // If this fails and the drain is killed, later removals are more careful than they need be.
    remember(state_, where_, name_, &witness_).ignore();
  }

 private:
  DrainState& state_;
  const DrainDirectory& where_;
  std::string name_;
  file::Witness witness_;
  uint64_t until_ = 0;
};

// Walks a tree without recursion, because threads of programs can have small stacks.
class TreeWalk {
 public:
  // `removing` null: only checks the tree. If not, removes it, from the leaves up.
  TreeWalk(const KnownTimes& span, const Root& root, const std::string& path, Announced* removing)
      : span_(span), root_(root), path_(path), removing_(removing) {}

  // The name must be the directory of `root`. All others are opened from there.
  Status visit(int directory, const std::string& name) {
    CAIRN_TRY(enter_or_remove(directory, name));
    while (!way_.empty()) {
      RemovedDirectory& level = way_.back();
      if (level.left.empty()) {
        const RemovedDirectory done = std::move(level);
        way_.pop_back();
        CAIRN_TRY(remove(way_.empty() ? directory : way_.back().fd.get(), done.name, done.st));
        continue;
      }
      const std::string next = std::move(level.left.back().name);
      level.left.pop_back();
      CAIRN_TRY(enter_or_remove(level.fd.get(), next));
    }
    return Status();
  }

 private:
  // A directory that the walk is in.
  struct RemovedDirectory {
    sys::Descriptor fd;
    std::string name;
    sys::FileStat st = {};  // before anything in it was removed
    std::vector<sys::DirectoryEntry> left = {};
  };

  // The path of a name, for messages.
  [[nodiscard]] std::string path_of(const std::string& name) const {
    std::string path = path_;
    if (way_.empty()) return path;
    for (size_t i = 1; i < way_.size(); ++i) path += "/" + way_[i].name;
    return path + "/" + name;
  }

  Status enter_or_remove(int directory, const std::string& name) {
    sys::FileStat st = {};
    if (const int64_t result = sys::lstatat(directory, name.c_str(), &st); result < 0)
      return result == -ENOENT ? Status() : sys::failed(result, "stat", path_of(name));
    const bool is_directory = S_ISDIR(st.st_mode);
    // A directory was checked before; removing names has changed its times since.
    if (!is_hidden(name) && !(removing_ != nullptr && is_directory) && is_later(st, span_))
      return changed_since_import(path_of(name));
    if (is_directory) return enter(directory, name, st);
    return way_.empty() ? changed_since_import(path_) : remove(directory, name, st);
  }

  Status enter(int directory, const std::string& name, const sys::FileStat& st) {
    if (way_.size() >= deepest) return too_deep(path_of(name));
    const int64_t opened =
        sys::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    // Another host of the job may have removed it.
    if (opened == -ENOENT) return Status();
    if (opened < 0) return sys::failed(opened, "open", path_of(name));
    RemovedDirectory level{sys::Descriptor(static_cast<int>(opened)), name, st};
    if (const int64_t result = sys::list(level.fd.get(), &level.left); result < 0)
      return sys::failed(result, "open", path_of(name));
    sys::FileStat listed = {};
    if (way_.empty() && (sys::fstat(level.fd.get(), &listed) < 0 ||
                         !is_remembered(root_.known, root_.witness, listed)))
      return changed_since_import(path_);
    way_.push_back(std::move(level));
    return Status();
  }

  Status remove(int directory, const std::string& name, const sys::FileStat& st) {
    if (removing_ == nullptr) return Status();
    removing_->again(st);
    const int flags = S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0;
    const int64_t result = sys::unlinkat(directory, name.c_str(), flags);
    return result < 0 && result != -ENOENT ? sys::failed(result, "remove", path_of(name))
                                           : Status();
  }

  const KnownTimes& span_;
  const Root& root_;
  const std::string& path_;
  Announced* removing_;
  std::vector<RemovedDirectory> way_;
};

// ESTALE: somebody has changed something in the tree.
Status check_tree(const KnownTimes& span, const Root& root, const std::string& path, int directory,
                  const std::string& name) {
  if (root.witness.size == newest_unknown) return changed_since_import(path);
  return TreeWalk(span, root, path, nullptr).visit(directory, name);
}

KnownTimes span_of(const DrainState& state, const file::Listed& listed) {
  return {listed.lower.size, state.begun, state.links_until};
}

}  // namespace

Status check_unchanged(const KnownCover& known, int directory, const std::string& name,
                       const std::string& path, const file::Witness& witness) {
  return check_tree({witness.size, file::now_ns(), 0}, {known, witness}, path, directory, name);
}

Status remove_tree(DrainState& state, const DrainDirectory& where, int directory,
                   const file::Listed& listed) {
  const std::string path = where.path + "/" + name_of(listed);
  const KnownTimes span = span_of(state, listed);
  const Root root{state.known, listed.lower};
  CAIRN_TRY(check_tree(span, root, path, directory, name_of(listed)));
  Announced announced(state, where, listed);
  return TreeWalk(span, root, path, &announced).visit(directory, name_of(listed));
}

Status replace_tree(DrainState& state, const DrainDirectory& where, int directory,
                    const file::Listed& listed) {
  const std::string path = where.path + "/" + name_of(listed);
  CAIRN_TRY(check_tree(span_of(state, listed), {state.known, listed.lower}, path, directory,
                       name_of(listed)));
  if (keep_moved(state, where, directory, listed)) return Status();
  return remove_tree(state, where, directory, listed);
}

}  // namespace cairn::tier
