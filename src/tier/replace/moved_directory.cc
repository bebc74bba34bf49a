// Finds where lower has the files of a directory that was moved in the pool. The files themselves
// did not change, so a drain links them to their new place (drain_moved.cc).
#include "tier/replace/moved_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "file/namespace/names.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/stage/at_home.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

// The name in slot `unit` - 1 of directory `parent`. The slot keeps the name of a file that was
// moved away, as a removed name or as another file's. `*listed`: the slot now.
std::string name_in_slot(file::FileSystem& fs, uint64_t parent, uint64_t unit,
                         file::Listed* listed) {
  auto directory = file::live_inode(fs, parent);
  if (!directory.ok() || unit == 0) return "";
  const pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return "";
  const auto found = file::list_slots(fs, {*directory, parent}, unit - 1, listed, 1);
  if (!found.ok() || *found == 0 || unit_of(*listed) + 1 != unit || !listed->sound ||
      !listed->has_lower)
    return "";
  return name_of(*listed);
}

}  // namespace

std::string old_path_of(DrainState& state, uint64_t parent, uint64_t unit, file::Listed* listed) {
  constexpr int most_moved = 64;  // directories above it that were moved
  file::FileSystem& fs = state.fs;
  std::string name = name_in_slot(fs, parent, unit, listed);
  std::string below = name;
  for (int i = 0; i < most_moved && !name.empty(); ++i) {
    if (const auto old = state.old_paths.find(parent); old != state.old_paths.end())
      return old->second + "/" + below;
    if (is_directory_at_home(fs, parent)) {
      auto above = file::path_of(fs, state.top.inode, parent);
      if (!above.ok()) return "";
      return state.cover.path + (*above == "/" ? "" : *above) + "/" + below;
    }
    auto directory = file::live_inode(fs, parent);
    if (!directory.ok()) return "";
    parent = (*directory)->lower_parent.load();
    file::Listed above;
    name = name_in_slot(fs, parent, home_unit(**directory), &above);
    below.insert(0, name + "/");
  }
  return "";
}

namespace {

std::string old_path_of_name(DrainState& state, const DrainDirectory& where,
                             const file::Listed& listed, const file::Map& map,
                             file::Witness* remembered) {
  if (is_at_home(where, listed, map)) {
    const auto above = state.old_paths.find(where.inode);
    if (above == state.old_paths.end() || !listed.has_lower) return "";
    *remembered = listed.lower;
    return above->second + "/" + name_of(listed);
  }
  file::Listed before;
  std::string path =
      old_path_of(state, map.inode->lower_parent.load(), home_unit(*map.inode), &before);
  *remembered = before.lower;
  return path;
}

void note_old_rights(DrainState& state, uint64_t inode, const std::string& path,
                     const file::Witness& remembered) {
  const int64_t opened = state.beneath.open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (opened < 0) return;
  const sys::Descriptor fd(static_cast<int>(opened));
  sys::FileStat st = {};
  if (sys::fstat(fd.get(), &st) < 0 || !is_remembered(state.known, remembered, st)) return;
  // The new directory gets no access list from the old one.
  st.st_mode = (st.st_mode & S_IFMT) | without_access_list(fd.get(), st.st_mode & 07777);
  state.old_rights[inode] = {remembered, st};
}

}  // namespace

std::string old_path_of_file(const DrainName& item, file::Witness* remembered) {
  if (item.map.inode->lower_parent.load() == 0) return "";
  return old_path_of_name(item.state, item.where, item.listed, item.map, remembered);
}

void note_old_path(DrainState& state, const DrainDirectory& where, const file::Listed& listed,
                   const file::Map& map) {
  file::Witness remembered;
  const std::string path = old_path_of_name(state, where, listed, map, &remembered);
  if (path.empty()) return;
  state.old_paths[map.number] = path;
  note_old_rights(state, map.number, path, remembered);
}

void note_kept_path(DrainState& state, const std::string& path, const std::string& kept) {
  for (auto& [directory, old] : state.old_paths) {
    if (old == path || old.starts_with(path + "/")) old = kept + old.substr(path.size());
  }
}

bool has_only_moved_with_directory(const DrainDirectory& where, const file::Listed& listed,
                                   const file::Map& map) {
  const file::Inode& inode = *map.inode;
  return where.is_moved && is_at_home(where, listed, map) && S_ISREG(inode.mode.load()) &&
         inode.links.load() == 1 && (inode.flags.load() & format::flag_lazy) == 0 &&
         inode.stamps.load() == 0 && inode.ctime.load() == inode.drained.load();
}

}  // namespace cairn::tier
