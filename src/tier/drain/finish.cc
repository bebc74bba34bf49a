// The last walk of a drain: removals, then modes and times of directories, from the leaves up.
#include "tier/drain/finish.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "base/saved_failure.h"
#include "file/inode/attributes.h"
#include "file/namespace/tree.h"
#include "tier/lower/pool_rights.h"
#include "tier/record/attributes.h"
#include "tier/record/mode_of_lower.h"
#include "tier/replace/drain_notes.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/remove.h"
#include "tier/replace/replaced_backup.h"
#include "tier/replace/reporting.h"
#include "tier/replace/while_running.h"
#include "tier/system/listing.h"
#include "tier/system/temp_file.h"

namespace cairn::tier {
namespace {

// A directory that the walk is in.
struct FinishedDirectory {
  DrainDirectory where;
  std::string name;
  file::Listed listed;                    // its name in the parent
  std::vector<file::Listed> directories;  // still to be visited
  uint64_t newest = 0;                    // the newest time at or below it in lower
  // This drain has changed it or one below it in lower, and could not read its time after that.
  bool is_cut_short = false;
};

void end_whiteout(DrainState& state, const DrainDirectory& where, const file::Listed& listed) {
  const Status status = remember(state, where, name_of(listed), nullptr);
  if (!status.ok() && status.code() != ENOENT)
    report_failed(state, where.path + "/" + name_of(listed), status);
}

// Removes in lower a name that was removed in the pool. True: lower does not have it any more.
bool remove_name(DrainState& state, const DrainDirectory& where, LowerDirectory& lower,
                 const file::Listed& listed) {
  if (state.removed_dirs.count(where.inode) != 0) return true;
  const std::string path = where.path + "/" + name_of(listed);
  const int64_t fd = lower.touch();
  if (fd < 0) {
    report_not_opened(state, where, path, fd);
    return false;
  }
  sys::FileStat st = {};
  auto in_lower = try_to_look(state.known, static_cast<int>(fd), listed, &st);
  if (!in_lower.ok()) {
    report_failed(state, path, sys::failed(-in_lower.code(), "stat", path));
    return false;
  }
  if (*in_lower == InLower::nothing || (where.fresh && *in_lower == InLower::other)) return true;
  if (*in_lower == InLower::other) {
    report_conflict(state, where, listed,
                    "removed in the pool, but changed there outside Cairn; it stays there");
    return false;
  }
  announce_links(state, st);
  const Status status =
      S_ISDIR(st.st_mode)
          ? remove_tree(state, where, static_cast<int>(fd), listed)
          : Status(static_cast<int>(-sys::unlinkat(static_cast<int>(fd), listed.name, 0)));
  if (status.code() == ESTALE) {
    report_conflict(state, where, listed,
                    "removed in the pool, but something in it changed there; it stays there");
    return false;
  }
  if (!status.ok()) {
    report_failed(state, path,
                  S_ISDIR(st.st_mode) ? status : sys::failed(-status.code(), "unlink", path));
    return false;
  }
  ++state.report.removed;
  return true;
}

void remove_names(DrainState& state, const DrainDirectory& where) {
  LowerDirectory lower(state, where);
  std::vector<file::Listed> gone;
  const Status status =
      for_each_name(state.fs, where.map, true, [&](const file::Listed& listed) -> Status {
        // Checked after the listing: so this name was removed before the first walk.
        if (listed.whiteout && !state.cancelled && !have_names_changed(state)) {
          if (remove_name(state, where, lower, listed)) gone.push_back(listed);
          report_progress(state, 0);
        }
        return Status();
      });
  if (!status.ok()) report_failed(state, where.path, status);
  // A power loss may bring a name back in lower; the pool must still know it as removed.
  if (Status synced = lower.sync(); !synced.ok()) {
    report_failed(state, where.path, synced);
    return;
  }
  for (const file::Listed& listed : gone) end_whiteout(state, where, listed);
}

Status apply_attributes(DrainState& state, const DrainDirectory& where,
                        const file::Attributes& wanted, int fd) {
  sys::FileStat before = {};
  if (const int64_t result = sys::fstat(fd, &before); result < 0)
    return sys::failed(result, "stat", where.path);
  CAIRN_TRY_ASSIGN(permissions,
                   give_owner(fd, wanted.uid, wanted.gid, wanted.mode & 07777, where.path));
  CAIRN_TRY(export_attributes(state.fs, where.map, fd, {}));
  if (where.fresh) permissions = permissions_with(state.fs, where.map, fd, -1, permissions);
  int64_t result = sys::fchmod(fd, permissions);
  // A job may use another user's directory (such as /tmp), whose mode it may not change.
  if (result < 0 && result != -EPERM) return sys::failed(result, "chmod", where.path);
  end_mode_of_others(state.fs, where.map, fd, before);
  result = sys::utimensat(fd, nullptr, wanted.atime, wanted.mtime);
  if (result < 0 && result != -EPERM) return sys::failed(result, "times", where.path);
  return Status();
}

// Gives the directory in lower the pool's mode, owner, attributes and times. False: it could not,
// and a report was made if the cause is not a change of names.
bool finish_attributes(DrainState& state, FinishedDirectory& level) {
  const DrainDirectory& where = level.where;
  const file::Map& map = where.map;
  const uint64_t time = change_time(state.fs, map);
  if (state.removed_dirs.count(map.number) != 0) {
    set_drained(state.fs, map, time);
    return true;
  }
  const file::Witness* witness = where.witness ? &*where.witness : nullptr;
  int64_t opened = open_directory(state.beneath, where.path, state.known, witness);
  if (opened == -EACCES)
    opened = open_own_directory(state.beneath, where.path, state.known, witness);
  if (opened == -ESTALE)
    report_conflict(state, where, where.path, "it was replaced by another directory outside Cairn");
  else if (opened < 0)
    report_not_opened(state, where, where.path, opened);
  if (opened < 0) return false;
  const sys::Descriptor fd(static_cast<int>(opened));
  // It was removed or moved meanwhile. A later drain sets its attributes in the new place.
  if (map.inode->generation.load() != where.generation || announce(state.fs, where.inode) == 0)
    return false;
  take_over(state, where, fd.get());
  sys::FileStat st = {};
  file::Attributes wanted;
  if (const int64_t result = sys::fstat(fd.get(), &st); result < 0) {
    report_failed(state, where.path, sys::failed(result, "stat", where.path));
    return false;
  }
  const uint64_t owner = map.inode->owner.load();
  const uint64_t rights =
      noted_rights(static_cast<uint32_t>(owner), static_cast<uint32_t>(owner >> 32),
                   static_cast<uint32_t>(map.inode->mode.load()));
  if (!wanted_rights(state, where, st, &wanted)) {
    report_failed(state, where.path, pool::no_seat(state.fs.pool));
    return false;
  }
  Status status = apply_attributes(state, where, wanted, fd.get());
  if (status.ok()) {
    const int64_t result = sys::fstat(fd.get(), &st);
    if (result < 0) status = sys::failed(result, "stat", where.path);
  }
  if (status.ok()) {
    const int64_t result = sys::fsync_directory(fd.get());
    if (result < 0) status = sys::failed(result, "fsync", where.path);
  }
  if (!status.ok()) {
    report_failed(state, where.path, status);
    return false;
  }
  level.newest = std::max(level.newest, sys::ctime_of(st));
  note_owner_in(&level.listed.lower, st);
  level.listed.lower.rights = rights;
  set_drained(state.fs, map, time);
  return true;
}

// Has everything in and below the directory its place in lower? Other directories may still wait.
bool is_complete(DrainState& state, const DrainDirectory& where) {
  if (is_whole_so_far(state)) return true;
  if (!is_clean_so_far(state) || state.calls.only != nullptr ||
      state.dirs_with_postponed.count(where.inode) != 0)
    return false;
  // The removed names that a moved directory remembers are those of its old place.
  bool any = false;
  const Status status = for_each_name(state.fs, where.map, true, [&](const file::Listed& listed) {
    any = any || listed.whiteout;
    return Status();
  });
  return status.ok() && !any;
}

void finish_level(DrainState& state, std::vector<FinishedDirectory>& way) {
  FinishedDirectory& level = way.back();
  const DrainDirectory& where = level.where;
  const bool is_top = way.size() == 1;
  const bool lazy = (where.map.inode->flags.load() & format::flag_lazy) != 0;
  if (!lazy && is_whole_so_far(state)) remove_names(state, where);
  // If the directory is left to a later drain, this one sets its attributes only after it has
  // changed the directory itself (LowerDirectory::touch).
  const uint64_t drained = where.map.inode->drained.load();
  if (change_time(state.fs, where.map) != drained &&
      (drained == 0 || !is_left_to_later(state, where.mode)) && !finish_attributes(state, level))
    level.is_cut_short = true;
  if (is_top) return;
  FinishedDirectory& above = way[way.size() - 2];
  if (const auto looked = state.unchanged_dirs.find(where.inode);
      looked != state.unchanged_dirs.end())
    level.newest = std::max(level.newest, looked->second);
  // Replaces the time that was announced. If this drain has not read the times of all that it has
  // changed, another such time takes its place.
  const uint64_t newest = level.is_cut_short ? announced_time() : level.newest;
  if (newest != 0 && state.dirs_with_unknown_entries.count(where.inode) == 0) {
    file::Witness witness = level.listed.lower;
    witness.size = newest;
    remember(state, above.where, level.name, &witness).ignore();  // fails if it was removed
  }
  above.newest = std::max(above.newest, level.newest);
  above.is_cut_short = above.is_cut_short || level.is_cut_short;
  if (state.dirs_with_postponed.count(where.inode) != 0)
    state.dirs_with_postponed.insert(above.where.inode);
  if (is_new_in_lower(where.map) && is_complete(state, where))
    set_home(state.fs, above.where, level.name, where.map, false);
}

void list_directories(DrainState& state, FinishedDirectory& level) {
  if ((level.where.map.inode->flags.load() & format::flag_lazy) != 0) return;
  const Status status =
      for_each_name(state.fs, level.where.map, false, [&](const file::Listed& listed) -> Status {
        if (listed.type == S_IFDIR >> 12 && is_asked_for(state, listed.inode) &&
            state.skipped_dirs.count(listed.inode) == 0)
          level.directories.push_back(listed);
        return Status();
      });
  // The walk before has reported a damaged directory.
  if (!status.ok() && (status.code() != EUCLEAN || is_clean_so_far(state)))
    report_failed(state, level.where.path, status);
}

}  // namespace

void finish(DrainState& state, const DrainDirectory& top) {
  // All files have their new places, so replaced files are removed. This comes first because a file
  // with several names gets another ctime when one of them is removed.
  const Status ended = is_whole_so_far(state) ? end_kept(state) : Status();
  const SavedFailure stays(ended);
  std::vector<FinishedDirectory> way;
  file::Tree tree(state.fs, top.inode);
  way.push_back({top, "", {}, {}, 0});
  list_directories(state, way.back());
  while (!way.empty() && !state.cancelled) {
    FinishedDirectory& level = way.back();
    if (level.directories.empty()) {
      finish_level(state, way);
      way.pop_back();
      continue;
    }
    const file::Listed listed = level.directories.back();
    level.directories.pop_back();
    auto inode = file::live_inode(state.fs, listed.inode);
    // A directory that was moved here since the last walk is left to the next drain.
    if (!inode.ok() || !is_at_home(level.where, listed, {*inode, listed.inode})) continue;
    const file::Map map{*inode, listed.inode};
    if (const Status entered = tree.enter(level.where.map, listed); !entered.ok()) {
      if (is_clean_so_far(state))
        report_failed(state, level.where.path + "/" + name_of(listed), entered);
      continue;
    }
    way.push_back({{listed.inode, map, level.where.path + "/" + name_of(listed),
                    level.where.fresh || is_new_in_lower(map), remembered_of(listed),
                    drain_mode_in(state.fs, map, level.where.mode)},
                   name_of(listed),
                   listed,
                   {},
                   0});
    list_directories(state, way.back());
  }
  // This error prevents no removal, so it is reported last.
  if (!ended.ok()) report_failed(state, top.path, stays.restored());
}

}  // namespace cairn::tier
