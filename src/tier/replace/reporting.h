// Reports what a drain could not do, and how far it is. A program may move a name while a drain is
// under way, so a report first checks if the cause is such a move.
#pragma once

#include <string>

#include "tier/replace/drain_state.h"

namespace cairn::tier {

// Reports a name that could not be drained; the detail text of `status` is the cause.
void report_failed(DrainState& state, const std::string& path, Status status);
void report_conflict(DrainState& state, const DrainDirectory& where, const std::string& path,
                     const char* what);
// Reports a conflict under a listed name. Does nothing if the name has changed in the pool since it
// was listed: what lower has may be what this drain has put there. The next drain looks again.
void report_conflict(DrainState& state, const DrainDirectory& where, const file::Listed& listed,
                     const char* what);
// Reports a name whose directory could not be opened, or is another one by now (-ESTALE).
void report_not_opened(DrainState& state, const DrainDirectory& where, const std::string& path,
                       int64_t result);
// Reports that so many bytes more are drained. False: the caller wants to stop.
bool report_progress(DrainState& state, uint64_t bytes);

inline bool is_clean_so_far(const DrainState& state) {
  return state.report.failed == 0 && state.report.conflicts == 0;
}
// A name may have moved into a directory that the walks had left already. Lower then has it under
// its old name only.
inline bool have_names_changed(const DrainState& state) {
  return file::NameChanges(state.fs.pool).names != state.seen.names;
}
// Has a program moved or removed the directory, or one above it, since the drain began? Then
// another directory may have its path in lower, which is not a conflict.
bool has_moved(const DrainState& state, const DrainDirectory& where);

}  // namespace cairn::tier
