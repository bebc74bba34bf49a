#include "tier/replace/reporting.h"

#include <algorithm>

#include "tier/record/locate.h"
#include "tier/replace/drain_notes.h"
#include "tier/stage/at_home.h"

namespace cairn::tier {

void report_failed(DrainState& state, const std::string& path, Status status) {
  // The directory was probably removed while it was listed. If it is damaged, the next drain says
  // so.
  if (status.code() == EUCLEAN && state.calls.while_running && have_names_changed(state)) return;
  ++state.report.failed;
  if (status.code() == ENOSPC || status.code() == EDQUOT) state.out_of_space = true;
  const std::string detail = last_detail();
  const std::string text = detail.find(path) == std::string::npos ? path + ": " + detail : detail;
  if (state.calls.problem) state.calls.problem(text.c_str());
}

bool has_moved(const DrainState& state, const DrainDirectory& where) {
  if (!have_names_changed(state)) return false;
  // Its inode may be another directory's by now.
  if (where.map.inode->generation.load() != where.generation) return true;
  const auto home = home_of_directory(state.fs, where.inode);
  return !home || state.top.path + *home != where.path;
}

void report_conflict(DrainState& state, const DrainDirectory& where, const std::string& path,
                     const char* what) {
  if (has_moved(state, where)) {
    state.dirs_with_postponed.insert(where.inode);
    return;
  }
  ++state.report.conflicts;
  note_unknown_entry(state, where.inode);
  const std::string text = path + ": " + what;
  if (state.calls.problem) state.calls.problem(text.c_str());
}

void report_conflict(DrainState& state, const DrainDirectory& where, const file::Listed& listed,
                     const char* what) {
  if (!is_as_listed(state.fs, where, listed)) {
    state.dirs_with_postponed.insert(where.inode);
    return;
  }
  report_conflict(state, where, where.path + "/" + name_of(listed), what);
}

void report_not_opened(DrainState& state, const DrainDirectory& where, const std::string& path,
                       int64_t result) {
  if (result == -ESTALE)
    return report_conflict(state, where, path,
                           "its directory was replaced outside Cairn; the pool keeps it");
  if (has_moved(state, where)) {
    state.dirs_with_postponed.insert(where.inode);
    return;
  }
  report_failed(state, path, sys::failed(result, "open", where.path));
}

bool report_progress(DrainState& state, uint64_t bytes) {
  state.done += bytes;
  if (state.calls.progress && !state.calls.progress(state.done, std::max(state.done, state.total)))
    state.cancelled = true;
  return !state.cancelled;
}

}  // namespace cairn::tier
