// Decides which files a drain leaves to a later one, because programs still use them.
#include "tier/replace/while_running.h"

#include <sys/stat.h>

#include <algorithm>

#include "file/inode/attributes.h"
#include "file/inode/open_table.h"
#include "file/inode/pins.h"
#include "pool/lanes/seats.h"
#include "tier/claim/claim.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/reporting.h"

namespace cairn::tier {
namespace {

bool is_open(DrainState& state, const file::Map& map) {
  return state.open_inodes.count(map.number) != 0 ||
         file::is_open(state.fs, map.number);  // opened since the drain began
}

bool is_busy(DrainState& state, const WhileRunning& rule, DrainMode mode, const file::Map& map) {
  const uint64_t changed = change_time(state.fs, map);
  // A time in the future (the clock was set back) counts as a recent change.
  if (changed + rule.quiet_ns > file::now_ns()) return true;
  // Stores through a mapping change no time, so a mapped file counts as busy.
  if (file::is_pinned(state.fs, map.number)) return true;
  if (rule.only_closed || mode != DrainMode::async) return is_open(state, map);
  return is_open_among_nodes(state, map);
}

// Does the pool hold bytes of this file? It does not for a lazy file, nor for a special one.
bool has_bytes(const file::Map& map) {
  return S_ISREG(map.inode->mode.load()) && (map.inode->flags.load() & format::flag_lazy) == 0;
}

uint64_t bytes_of(file::FileSystem& fs, const file::Map& map) {
  const pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return 0;
  const file::Attributes attributes = file::attributes_of(fs, map);
  return std::min(attributes.size, attributes.blocks * format::block_size);
}

}  // namespace

bool is_left_to_later(const DrainState& state, DrainMode mode) {
  if (!state.calls.while_running) return false;
  if (mode == DrainMode::inherit) mode = state.calls.while_running->otherwise;
  return mode == DrainMode::never ||
         (mode == DrainMode::exit && !state.calls.while_running->at_end);
}

bool is_whole_so_far(const DrainState& state) {
  return is_clean_so_far(state) && !have_names_changed(state) && state.postponed_inodes.empty() &&
         state.calls.only == nullptr &&
         (!state.calls.while_running || !is_left_to_later(state, DrainMode::inherit));
}

bool is_open_among_nodes(DrainState& state, const file::Map& map) {
  if (!leaves_busy_files(state) || !is_open(state, map)) return false;
  if (!state.is_shared) {
    const auto others = other_claims(state.fs, state.cover.path);
    state.is_shared = !others.ok() || !others->empty();
  }
  return *state.is_shared;
}

void note_open_files(DrainState& state) {
  if (!leaves_busy_files(state)) return;
  file::for_each_open_file(state.fs, [&state](const format::OpenFile& open) {
    state.open_inodes.insert(open.inode.load());
    return true;
  });
}

bool is_postponed(DrainState& state, const DrainDirectory& where, const file::Listed& listed,
                  const file::Map& map) {
  if (!state.calls.while_running) return false;
  if (state.postponed_inodes.count(map.number) != 0) {
    state.dirs_with_postponed.insert(where.inode);
    return true;
  }
  if (is_drained(state.fs, where, listed, map)) return false;
  const WhileRunning& rule = *state.calls.while_running;
  DrainMode mode = drain_mode_in(state.fs, map, where.mode);
  if (mode == DrainMode::inherit) mode = rule.otherwise;
  const bool waits = is_left_to_later(state, mode) ||
                     (has_bytes(map) && !rule.at_end && is_busy(state, rule, mode, map));
  if (waits) postpone(state, where, map);
  return waits;
}

void postpone(DrainState& state, const DrainDirectory& where, const file::Map& map) {
  state.postponed_inodes.insert(map.number);
  state.dirs_with_postponed.insert(where.inode);
  if (!has_bytes(map)) return;
  ++state.report.postponed;
  state.report.postponed_bytes += bytes_of(state.fs, map);
}

}  // namespace cairn::tier
