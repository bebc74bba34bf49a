#include "tier/cover/drain.h"

#include <sys/stat.h>

#include <optional>
#include <vector>

#include "file/namespace/tree.h"
#include "tier/changes/changes.h"
#include "tier/claim/claim_text.h"
#include "tier/claim/temp_claim.h"
#include "tier/cover/covered_directory.h"
#include "tier/drain/drain_directory.h"
#include "tier/drain/drain_file.h"
#include "tier/drain/drain_link.h"
#include "tier/drain/finish.h"
#include "tier/drain/plan.h"
#include "tier/drain/small_file_batch.h"
#include "tier/lower/beneath.h"
#include "tier/record/journal.h"
#include "tier/record/locate.h"
#include "tier/record/record.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/moved_directory.h"
#include "tier/replace/publish.h"
#include "tier/replace/reporting.h"
#include "tier/replace/while_running.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

// Is there a file below this directory of the pool that this drain may write while a run goes on?
Result<bool> has_work(DrainState& state, const DrainDirectory& top) {
  return any_name(state.fs, top, false,
                  [&](const DrainDirectory& where, const file::Listed& listed, file::Inode* inode) {
                    if (inode == nullptr || S_ISDIR(inode->mode.load())) return false;
                    const file::Map map{inode, listed.inode};
                    return !is_left_out(state.fs, where, listed, map) &&
                           !is_left_to_later(state, drain_mode_in(state.fs, map, where.mode)) &&
                           !is_drained(state.fs, where, listed, map);
                  });
}

// Can a directory that lower lacks be left out, because nothing below it is to be written now, or
// at all? Otherwise lower would get a tree of empty directories.
bool needs_no_place(DrainState& state, const DrainDirectory& where, const file::Listed& listed,
                    const file::Map& map) {
  const DrainMode mode = drain_mode_in(state.fs, map, where.mode);
  const DrainDirectory below{listed.inode, map, "", false, {}, mode};
  if (is_left_to_later(state, mode)) {
    auto work = has_work(state, below);
    if (!work.ok() || *work) return false;  // the walk reports what cannot be listed
    state.postponed_inodes.insert(listed.inode);
    state.dirs_with_postponed.insert(where.inode);
    return true;
  }
  if (listed.has_lower || !is_left_out(state.fs, where, listed, map)) return false;
  auto undrained = has_undrained(state.fs, below);
  return undrained.ok() && !*undrained;
}

// Somebody has removed in lower a directory that the drain is about to enter. It is made again if
// something is to be written there, as a changed file would be; if not, it stays removed. False:
// nothing is to be done in it.
bool make_again(const DrainName& item, std::optional<file::Witness>* witness) {
  auto needed =
      has_undrained(item.state.fs, {item.listed.inode,
                                    item.map,
                                    "",
                                    false,
                                    {},
                                    drain_mode_in(item.state.fs, item.map, item.where.mode)});
  if (!needed.ok()) {
    report_failed(item.state, item.where.path + "/" + name_of(item.listed), needed.status());
    return false;
  }
  return *needed && drain_directory(item, witness);
}

void create_in(DrainState& state, const DrainDirectory& where, file::Tree* tree,
               std::vector<DrainDirectory>* directories) {
  LowerDirectory lower(state, where);
  SmallFileBatch batch(state, where, lower);
  const Status status =
      for_each_name(state.fs, where.map, false, [&](const file::Listed& listed) -> Status {
        if (state.cancelled) return Status(ECANCELED);
        if (!is_asked_for(state, listed.inode)) return Status();
        auto inode = file::live_inode(state.fs, listed.inode);
        if (!inode.ok()) return Status();  // it was removed meanwhile
        const file::Map map{*inode, listed.inode};
        const bool at_top = where.inode == state.top.inode;
        if (at_top ? is_hidden_at_top(name_of(listed)) : is_hidden(name_of(listed))) {
          report_failed(state, where.path + "/" + name_of(listed),
                        fail(EINVAL, "the name is reserved for Cairn"));
          return Status();
        }
        if (!S_ISDIR((*inode)->mode.load())) {
          if (is_left_out(state.fs, where, listed, map) || is_postponed(state, where, listed, map))
            return Status();
          if (SmallFileBatch::suits(state.fs, where, listed, map))
            batch.add(listed, map);
          else
            drain_name({state, where, lower, listed, map});
          return Status();
        }
        if (const Status entered = tree->enter(where.map, listed); !entered.ok()) {
          report_failed(state, where.path + "/" + name_of(listed), entered);
          return Status();
        }
        const bool fresh = where.fresh || is_new_in_lower(map) || !is_at_home(where, listed, map);
        std::optional<file::Witness> witness = remembered_of(listed);
        // The directory was moved here after the plan was made. Once the drain has made it here,
        // its old path is not known any more.
        if ((where.is_moved || !is_at_home(where, listed, map)) &&
            state.old_paths.count(listed.inode) == 0)
          note_old_path(state, where, listed, map);
        if (fresh && needs_no_place(state, where, listed, map)) {
          state.skipped_dirs.insert(listed.inode);
          return Status();
        }
        if (fresh && !drain_directory({state, where, lower, listed, map}, &witness)) {
          state.skipped_dirs.insert(listed.inode);
          return Status();
        }
        if (state.removed_dirs.count(listed.inode) != 0 &&
            !make_again({state, where, lower, listed, map}, &witness))
          return Status();
        // No process has listed a lazy directory, so nothing was changed below it.
        if (((*inode)->flags.load() & format::flag_lazy) == 0)
          directories->push_back({listed.inode, map, where.path + "/" + name_of(listed), fresh,
                                  witness, drain_mode_in(state.fs, map, where.mode),
                                  state.old_paths.count(listed.inode) != 0});
        return Status();
      });
  if (!status.ok() && !state.cancelled) report_failed(state, where.path, status);
  batch.drain();
  if (Status synced = lower.sync(); !synced.ok()) {
    for (auto& [number, linked] : state.linked) linked.is_complete = false;
    report_failed(state, where.path, synced);
  }
}

void create(DrainState& state, const DrainDirectory& top) {
  std::vector<DrainDirectory> directories = {top};
  file::Tree tree(state.fs, top.inode);
  while (!directories.empty() && !state.cancelled) {
    const DrainDirectory where = std::move(directories.back());
    directories.pop_back();
    create_in(state, where, &tree, &directories);
  }
}

// A name that no other drain of the same directory uses. It holds the host, so that files which
// drains leave behind can be told apart.
std::string new_temp_name(const file::FileSystem& fs) {
  return std::string(drain_prefix) + cover_name(own_claim(fs, "").host).substr(0, 8) + "-" +
         sys::random_name();
}

std::string room_text(const DrainState& state) {
  if (!state.missing_room) return "";
  return "; draining all of it needs " + std::to_string(state.missing_room->needed) +
         " bytes there, " + std::to_string(state.missing_room->free) + " were free";
}

}  // namespace

Status drain(Cover& cover, const DrainCalls& calls, DrainReport* report) {
  file::FileSystem& fs = *cover.fs;
  auto lock = lock_drain(fs, cover.name);
  if (!lock.ok()) return lock.status();
  auto known = cover_of_top(fs, cover.top);
  if (!known.ok()) return known.status();
  if (*known == nullptr) return fail(ENOENT, "%s is not covered any more", cover.path.c_str());
  auto inode = file::live_inode(fs, cover.top);
  if (!inode.ok()) return inode.status();
  const DrainDirectory top = top_of(fs, {*inode, cover.top}, cover.path);
  DrainState state(cover, top, **known, calls, *report);
  CAIRN_TRY_ASSIGN(covered, open_covered(cover));
  if (!covered.directory.ok()) return Status();  // the directory is gone; nothing is to be drained
  state.owner = covered.owner;
  state.top_rights = covered.directory_rights;
  state.beneath = Beneath(std::move(covered.directory), cover.path);
  remove_claims_left(state.beneath.fd());
  state.temp_name = new_temp_name(fs);
  CAIRN_TRY(state.journal.open(fs, cover.covers, cover.name));
  state.links_until = state.journal.links_until();
  CAIRN_TRY(recover_journal(state));
  note_open_files(state);
  Plan plan;
  CAIRN_TRY(make_plan(fs, &state, top, &plan));
  // While programs run, drain_file.cc checks the room for each file, and writes those that fit.
  if (!leaves_busy_files(state)) CAIRN_TRY(choose_what_fits(&state, &plan));
  state.total = plan.bytes;
  CAIRN_TRY(state.journal.begin_drain(state.begun));
  create(state, top);
  if (!state.cancelled) {
    finish_links(state);
    finish(state, top);
  }
  CAIRN_TRY(state.journal.clear());
  if (state.cancelled) return fail(ECANCELED, "draining %s was stopped", cover.path.c_str());
  if (is_clean_so_far(state)) return Status();
  return fail(state.out_of_space ? ENOSPC : EIO,
              "%s: %llu files could not be drained, %llu changed there outside Cairn%s",
              cover.path.c_str(), static_cast<unsigned long long>(report->failed),
              static_cast<unsigned long long>(report->conflicts), room_text(state).c_str());
}

Status end_drain(const Cover& cover) {
  auto lock = try_lock_drain(*cover.fs, cover.name);
  if (lock.code() == EAGAIN) return Status();  // another drain is at work, and notes its own end
  if (!lock.ok()) return lock.status();
  auto begun = Journal::drain_begun(*cover.fs, cover.covers, cover.name);
  if (!begun.ok() || *begun == 0) return begun.status();
  Journal journal;
  CAIRN_TRY(journal.open(*cover.fs, cover.covers, cover.name));
  return journal.end_drain();
}

}  // namespace cairn::tier
