#include "tier/cover/cover_state.h"

#include "tier/changes/changes.h"
#include "tier/claim/membership.h"
#include "tier/drain/undrained.h"
#include "tier/record/journal.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"

namespace cairn::tier {

Result<CoverState> state_of_cover(file::FileSystem& fs, const std::string& name) {
  CoverState state;
  auto covers = find_covers(fs, false);
  if (!covers.ok()) return covers.status();
  if (*covers == 0) return state;
  auto top = find_child(fs, *covers, name);
  if (!top.ok()) return top.status();
  if (*top == 0) return state;
  auto undrained = undrained_data(fs, *top);
  if (!undrained.ok()) return undrained.status();
  auto drained = is_all_drained(fs, *top);
  if (!drained.ok()) return drained.status();
  auto inode = file::live_inode(fs, *top);
  if (!inode.ok()) return inode.status();
  state.undrained_files = undrained->files;
  state.undrained_bytes = undrained->bytes;
  state.modes = undrained->modes;
  state.oldest = undrained->oldest;
  state.oldest_time = undrained->oldest_time;
  state.left_out = undrained->left_out;
  state.renamed = undrained->renamed;
  state.kept_back = undrained->kept_back;
  state.all_drained = *drained && change_time(fs, {*inode, *top}) == (*inode)->drained.load();
  CAIRN_TRY(for_each_part(fs, name, [&](const std::string&, uint64_t held) {
    ++state.parts;
    state.undrained_bytes += held;
    return Status();
  }));
  state.all_drained = state.all_drained && state.parts == 0;
  auto begun = Journal::drain_begun(fs, *covers, name);
  if (!begun.ok()) return begun.status();
  state.drain_begun = *begun;
  auto under_way = is_run_under_way(fs, name);
  auto members = has_members(fs, name);
  state.in_use = !under_way.ok() || *under_way || !members.ok() || *members;
  return state;
}

}  // namespace cairn::tier
