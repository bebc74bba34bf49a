// Keeps a file of lower whose name a drain gives to another file, while its bytes are still to be
// written to their new place (a rotated log, two exchanged files, a file that was moved into a
// directory with its own former name).
//
// The file lies in a hidden directory in the covered one, the kept directory, until the end of a
// drain that could do everything. If a drain is killed or meets an error, the next one finds the
// directory again by its name, which tells the pool.
#include "tier/replace/replaced_backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/saved_failure.h"
#include "tier/claim/kept_directory.h"
#include "tier/replace/drain_notes.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/moved_directory.h"
#include "tier/system/listing.h"
#include "tier/system/open_files.h"

namespace cairn::tier {
namespace {

bool make_kept(DrainState& state) {
  if (state.kept_dir.ok()) return true;
  LowerDirectory top(state, state.top);
  const int64_t fd = top.touch();
  if (fd < 0) return false;
  return make_kept_directory(state.fs, static_cast<int>(fd), state.owner, &state.kept_dir) == 0;
}

// A directory at or below the kept one that the walk is in, and the names still to be removed.
struct BackupLevel {
  sys::Descriptor fd;
  std::string name;
  std::vector<sys::DirectoryEntry> left;
};

int64_t enter(std::vector<BackupLevel>& way, int directory, const std::string& name) {
  // Each level takes a descriptor, and a user who could write to the kept files may have made the
  // tree deeper.
  constexpr size_t deepest = 4096;
  if (way.size() > deepest) return -ENAMETOOLONG;
  const int64_t opened = sys::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened < 0) return opened;
  BackupLevel level{sys::Descriptor(static_cast<int>(opened)), name, {}};
  if (const int64_t listed = sys::list(level.fd.get(), &level.left); listed < 0) return listed;
  way.push_back(std::move(level));
  return 0;
}

// The first thing that cannot be removed.
struct Stays {
  int64_t result = 0;
  std::string path = {};  // below the kept directory
  bool is_foreign = false;
};

class Removal {
 public:
  explicit Removal(DrainState& state) : state_(state) {}
  // Removes all that lies in an open kept directory, except its mark and files of others.
  Stays remove(int kept) {
    note(enter(way_, kept, "."), "");
    while (!way_.empty()) {
      if (way_.back().left.empty()) {
        leave();
        continue;
      }
      const std::string name = std::move(way_.back().left.back().name);
      way_.back().left.pop_back();
      if (way_.size() == 1 && name == kept_mark) continue;  // removed last
      if (way_.size() == 1 && is_foreign(name))
        note(-EBUSY, name);
      else
        note(remove_name(way_.back().fd.get(), name), name);
    }
    return stays_;
  }

 private:
  int64_t remove_name(int directory, const std::string& name) {
    sys::FileStat st = {};
    if (sys::lstatat(directory, name.c_str(), &st) == 0) announce_links(state_, st);
    const int64_t result = sys::unlinkat(directory, name.c_str(), 0);
    if (!S_ISDIR(st.st_mode) || (result != -EISDIR && result != -EPERM)) return result;
    const int64_t entered = enter(way_, directory, name);
    // If chmod fails, so does the removal of the first name in it.
    if (entered == 0 && geteuid() != 0) sys::fchmod(way_.back().fd.get(), S_IRWXU);
    return entered;
  }
  void leave() {
    const std::string name = std::move(way_.back().name);
    way_.pop_back();
    if (!way_.empty()) note(sys::unlinkat(way_.back().fd.get(), name.c_str(), AT_REMOVEDIR), name);
  }
  void note(int64_t result, const std::string& name) {
    if (result >= 0 || stays_.result < 0) return;
    stays_.result = result;
    for (size_t i = 1; i < way_.size(); ++i) stays_.path += "/" + way_[i].name;
    if (!name.empty()) stays_.path += "/" + name;
    stays_.is_foreign = way_.size() == 1 && is_foreign(name);
  }

  DrainState& state_;
  std::vector<BackupLevel> way_;
  Stays stays_;
};

// Removes the notes of origins. This comes first: a file of which a part is removed must not be
// restored.
int64_t forget_origins(int kept) {
  std::vector<sys::DirectoryEntry> entries;
  if (const int64_t listed = list_of(kept, &entries); listed < 0) return listed;
  for (const sys::DirectoryEntry& entry : entries)
    if (is_origin(entry.name)) sys::unlinkat(kept, entry.name.c_str(), 0);
  return sys::fsync_directory(kept);
}

}  // namespace

bool is_moved_from(const DrainState& state, const DrainDirectory& where, const file::Listed& listed,
                   const file::Map& map) {
  const bool is_unknown =
      state.calls.only != nullptr || file::NameChanges(state.fs.pool).homes != state.seen.homes;
  if (is_unknown && !is_at_home(where, listed, map)) return true;
  return state.moved_from.count({where.inode, unit_of(listed) + 1}) != 0;
}

bool keep_linked(DrainState& state, int directory, const file::Listed& listed) {
  const int64_t opened = sys::openat(directory, listed.name, O_PATH | O_NOFOLLOW);
  if (opened < 0) return false;
  const sys::Descriptor fd(static_cast<int>(opened));
  sys::FileStat st = {};
  if (check_file(fd.get(), state.known, listed.lower) < 0 || sys::fstat(fd.get(), &st) < 0)
    return false;
  ++st.st_nlink;
  announce_links(state, st);
  return make_kept(state) &&
         link_open_file(fd.get(), state.kept_dir.get(), kept_name(listed.name).c_str()) == 0 &&
         sys::fsync_directory(state.kept_dir.get()) == 0;
}

bool keep_moved(DrainState& state, const DrainDirectory& where, int directory,
                const file::Listed& listed) {
  if (!make_kept(state)) return false;
  const std::string there = kept_name(listed.name);
  if (sys::renameat2(directory, listed.name, state.kept_dir.get(), there.c_str(), 0) < 0)
    return false;
  sys::FileStat st = {};
  if (sys::lstatat(state.kept_dir.get(), there.c_str(), &st) == 0 &&
      !is_remembered(state.known, listed.lower, st)) {
    // Another file got the name just before the rename. It is given back.
    give_back(state.kept_dir.get(), there, directory, listed.name);
    return false;
  }
  sys::fsync_directory(state.kept_dir.get());
  std::string kept;
  if (sys::read_link(AT_FDCWD, path_of_open(state.kept_dir.get()).c_str(), &kept) >= 0)
    note_kept_path(state, where.path + "/" + name_of(listed),
                   state.top.path + kept.substr(kept.rfind('/')) + "/" + there);
  return true;
}

namespace {

Status end_one(DrainState& state, int covered, int kept) {
  std::string path = state.top.path;
  sys::read_link(AT_FDCWD, path_of_open(kept).c_str(), &path);  // for the error text
  Stays stays{covered < 0 ? covered : forget_origins(kept)};
  if (stays.result == 0) stays = Removal(state).remove(kept);
  if (stays.result == 0) stays.result = remove_kept_directory(covered, state.owner, kept);
  if (stays.result >= 0) return Status();
  path += stays.path;
  if (stays.is_foreign)
    return fail(EBUSY,
                "%s: took a name that the drain needed, and could not be moved back; move it away",
                path.c_str());
  return fail(static_cast<int>(-stays.result),
              "%s: was replaced, and cannot be removed: %s; it stays there until you remove it",
              path.c_str(), std::strerror(static_cast<int>(-stays.result)));
}

}  // namespace

Status end_kept(DrainState& state) {
  state.kept_dir.reset();
  const auto found = find_kept_directories(state.fs, state.beneath.fd(), state.owner);
  if (found.empty()) return Status();
  LowerDirectory top(state, state.top);
  const int64_t fd = top.touch();
  SavedFailure first;
  for (const sys::Descriptor& kept : found)
    first.keep(end_one(state, static_cast<int>(fd), kept.get()));
  return first.restored();
}

}  // namespace cairn::tier
