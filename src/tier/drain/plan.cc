#include "tier/drain/plan.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "file/inode/attributes.h"
#include "file/namespace/moved.h"
#include "tier/changes/changes.h"
#include "tier/drain/batch_limits.h"
#include "tier/drain/drain_link.h"
#include "tier/lower/beneath.h"
#include "tier/replace/moved_directory.h"
#include "tier/replace/unknown_entries.h"
#include "tier/replace/while_running.h"

namespace cairn::tier {
namespace {

// The most additional bytes that lower holds at any time while the files are written: a new file
// lies beside the one that it replaces.
uint64_t most_room(const DrainState& state, const Plan& plan) {
  uint64_t running = 0;
  uint64_t peak = 0;
  uint64_t small = 0;  // small files, several of which replace others only at the end
  for (const Plan::PlannedFile& file : plan.files) {
    running += file.size;
    peak = std::max(peak, running);
    if (state.moved_from.count(file.name) == 0) running -= std::min(running, file.freed);
    if (file.freed != 0 && file.size <= largest_in_batch) small += file.size;
  }
  return peak + std::min(small, most_bytes_in_batch);
}

bool is_there_already(const DrainState* state, const DrainDirectory& where,
                      const file::Listed& listed) {
  if (state == nullptr || !listed.has_lower) return false;
  const int64_t opened =
      state->beneath.open(where.path + "/" + name_of(listed), O_PATH | O_NOFOLLOW);
  if (opened < 0) return false;
  const sys::Descriptor fd(static_cast<int>(opened));
  return check_file(fd.get(), state->known, listed.lower) == 0;
}

void note_age(file::FileSystem& fs, const DrainDirectory& where, const file::Listed& listed,
              const file::Map& map, Plan* plan) {
  const uint64_t changed = change_time(fs, map);
  if (plan->oldest_time != 0 && changed >= plan->oldest_time) return;
  plan->oldest_time = changed;
  plan->oldest = (where.path + "/" + name_of(listed)).substr(1);
}

// Does lower have the name in a directory that a drain has made there and not finished? This is
// what the pool knows, for a caller that does not ask lower.
bool is_drained_as_noted(file::FileSystem& fs, const DrainDirectory& where,
                         const file::Listed& listed, const file::Map& map) {
  return where.fresh && !where.is_moved && is_at_home(where, listed, map) &&
         change_time(fs, map) == map.inode->drained.load();
}

void plan_file(file::FileSystem& fs, DrainState* state, const DrainDirectory& where,
               const file::Listed& listed, const file::Map& map, Plan* plan) {
  if (!S_ISREG(map.inode->mode.load()) || is_drained(fs, where, listed, map)) return;
  if ((map.inode->flags.load() & format::flag_lazy) != 0) return;
  if (is_left_out(fs, where, listed, map)) {
    ++plan->left_out;
    return;
  }
  if (where.fresh && change_time(fs, map) == map.inode->drained.load() &&
      is_there_already(state, where, listed))
    return;
  if (state == nullptr && is_drained_as_noted(fs, where, listed, map)) return;
  uint64_t size = 0;
  {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return;
    const file::Attributes attributes = file::attributes_of(fs, map);
    size = std::min(attributes.size, attributes.blocks * format::block_size);
  }
  if (file::has_only_moved(*map.inode) ||
      has_only_moved_with_directory(where, listed, map)) {  // it gets a link (drain_moved.cc)
    if (state == nullptr) {
      ++plan->renamed;
      return;
    }
    size = 0;
  }
  plan->bytes += size;
  ++plan->count;
  if (state == nullptr) note_age(fs, where, listed, map, plan);
  if (plan->visit && !plan->visit((where.path + "/" + name_of(listed)).substr(1), size,
                                  listed.has_lower && !where.fresh))
    plan->visit = {};
  if (state == nullptr) return;
  plan->files.push_back({size,
                         listed.has_lower && !where.fresh ? listed.lower.size : 0,
                         {where.inode, unit_of(listed) + 1},
                         map.number,
                         change_time(fs, map)});
  if (map.inode->lower_parent.load() != 0 && !is_at_home(where, listed, map))
    state->moved_from.insert({map.inode->lower_parent.load(), home_unit(*map.inode)});
}

// Counts a directory that holds something which no drain can write, such as an unsound name. In a
// drain, create() reports it.
void plan_unsound(const DrainState* state, const DrainDirectory& where, Plan* plan) {
  ++plan->count;
  if (state == nullptr && plan->visit && !plan->visit("." + where.path + "/", 0, false))
    plan->visit = {};
}

struct Planned {
  DrainDirectory where;
  // The path of what has the mode in force here, if that is a `never` of lower; else "".
  std::string never_by;
};

std::string never_by(file::FileSystem& fs, const file::Map& map, const std::string& path,
                     const std::string& above) {
  if (own_drain_mode(fs, map) == DrainMode::inherit) return above;
  return has_never_of_lower(fs, map) ? path : "";
}

void note_kept_back(file::FileSystem& fs, const Planned& above, const file::Listed& listed,
                    const file::Map& map, Plan* plan) {
  const DrainDirectory& where = above.where;
  const std::string path = (where.path + "/" + name_of(listed)).substr(1);
  const std::string by = never_by(fs, map, path, above.never_by);
  const bool is_there = S_ISDIR(map.inode->mode.load()) ? listed.has_lower && !where.fresh
                                                        : is_drained(fs, where, listed, map);
  if (by.empty() || is_there || !is_left_out(fs, where, listed, map)) return;
  if (plan->kept_back.names++ == 0) plan->kept_back.by = by;
}

}  // namespace

Status make_plan(file::FileSystem& fs, DrainState* state, const DrainDirectory& top, Plan* plan) {
  std::vector<Planned> directories = {{top, never_by(fs, top.map, ".", "")}};
  const auto note_mode = [plan](DrainMode own) {
    if (own != DrainMode::inherit) plan->modes |= 1U << static_cast<unsigned>(own);
  };
  note_mode(top.mode);
  file::Tree tree(fs, top.inode);
  while (!directories.empty()) {
    const Planned above = std::move(directories.back());
    const DrainDirectory& where = above.where;
    directories.pop_back();
    const auto visit = [&](const file::Listed& listed) -> Status {
      if (state != nullptr && !is_asked_for(*state, listed.inode)) return Status();
      auto inode = file::live_inode(fs, listed.inode);
      if (!inode.ok()) return Status();
      const file::Map map{*inode, listed.inode};
      note_mode(own_drain_mode(fs, map));
      if (state == nullptr) note_kept_back(fs, above, listed, map, plan);
      if (!S_ISDIR((*inode)->mode.load())) {
        plan_file(fs, state, where, listed, map, plan);
        // Names of the file that lower does not have yet become links to this one.
        if (state != nullptr && (*inode)->links.load() > 1 && is_drained(fs, where, listed, map) &&
            still_names(fs, where, listed, map))
          note_linked(*state, where, listed, map, listed.lower, counts_as_drained(map));
      } else if (((*inode)->flags.load() & format::flag_lazy) == 0) {
        if (!tree.enter(where.map, listed).ok()) {
          plan_unsound(state, where, plan);
          return Status();
        }
        if (state != nullptr) look_for_unknown_entries(*state, where, listed, map);
        bool is_moved = where.is_moved || !is_at_home(where, listed, map);
        const bool fresh = where.fresh || is_new_in_lower(map) || is_moved;
        if (state != nullptr && is_moved) {
          note_old_path(*state, where, listed, map);
          is_moved = state->old_paths.count(listed.inode) != 0;
        }
        const std::string path = where.path + "/" + name_of(listed);
        directories.push_back({{listed.inode, map, path, fresh, remembered_of(listed),
                                drain_mode_in(fs, map, where.mode), is_moved},
                               never_by(fs, map, path.substr(1), above.never_by)});
      }
      return Status();
    };
    const Status status = for_each_name(fs, where.map, false, visit);
    if (status.code() == EUCLEAN)
      plan_unsound(state, where, plan);
    else
      CAIRN_TRY(status);
  }
  return Status();
}

Status choose_what_fits(DrainState* state, Plan* plan) {
  struct statfs st = {};
  if (const int64_t result = sys::fstatfs(state->beneath.fd(), &st); result < 0)
    return sys::failed(result, "statfs", state->cover.path);
  const auto unit = static_cast<uint64_t>(st.f_bsize);
  const uint64_t free = static_cast<uint64_t>(st.f_bavail) * unit;
  const uint64_t needed = most_room(*state, *plan);
  if (needed <= free) return Status();
  state->missing_room = {needed, free};
  std::stable_sort(
      plan->files.begin(), plan->files.end(),
      [](const Plan::PlannedFile& a, const Plan::PlannedFile& b) { return a.changed < b.changed; });
  uint64_t taken = 0;
  for (const Plan::PlannedFile& file : plan->files) {
    if (state->without_room.count(file.inode) != 0) continue;  // another name of it
    const uint64_t size = (file.size + unit - 1) / unit * unit;
    if (taken + size > free) {
      state->without_room.insert(file.inode);
      plan->bytes -= file.size;
      continue;
    }
    taken += size;
    if (state->moved_from.count(file.name) == 0) taken -= std::min(taken, file.freed);
  }
  return Status();
}

Status check_room_for(const DrainState& state, uint64_t inode, uint64_t bytes, int directory,
                      const std::string& path) {
  if (!leaves_busy_files(state) && !state.missing_room) return Status();
  struct statfs st = {};
  if (sys::fstatfs(directory, &st) < 0) return Status();  // the write returns the error
  const uint64_t free = static_cast<uint64_t>(st.f_bavail) * static_cast<uint64_t>(st.f_bsize);
  const bool is_left_out = state.without_room.count(inode) != 0;
  if (bytes <= free && !is_left_out) return Status();
  return fail(ENOSPC, "%s: draining needs %llu bytes there, %llu are free%s", path.c_str(),
              static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(free),
              is_left_out ? " and files that changed earlier come first" : "");
}

DrainDirectory top_of(file::FileSystem& fs, const file::Map& map, const std::string& path) {
  return {map.number, map, path, false, {}, own_drain_mode(fs, map)};
}

bool has_place(const DrainDirectory& where, const file::Listed& listed, file::Inode* directory) {
  const file::Map map{directory, listed.inode};
  return is_at_home(where, listed, map) && !is_new_in_lower(map);
}

Result<bool> has_undrained(file::FileSystem& fs, const DrainDirectory& top) {
  return any_name(fs, top, false,
                  [&](const DrainDirectory& where, const file::Listed& listed, file::Inode* inode) {
                    if (inode == nullptr || is_left_out(fs, where, listed, {inode, listed.inode}))
                      return false;
                    return S_ISDIR(inode->mode.load())
                               ? !has_place(where, listed, inode)
                               : !is_drained(fs, where, listed, {inode, listed.inode});
                  });
}

}  // namespace cairn::tier
