#include "tier/cover/discard_earlier.h"

#include <fcntl.h>

#include "tier/claim/restore.h"
#include "tier/cover/cover_state.h"
#include "tier/lower/keep_times.h"
#include "tier/lower/lower_base.h"
#include "tier/record/journal.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"
#include "tier/record/wipe.h"

namespace cairn::tier {
namespace {

// Restores files that a drain displaced for changes that are now discarded. The claim stays, so no
// other process restores them, and a drain of the next cover would remove them.
Status restore_below(const std::string& path, uint64_t owner) {
  const int64_t opened = lower_base(path, O_RDONLY);
  if (opened < 0) return sys::failed(opened, "open", path);
  const sys::Descriptor fd(static_cast<int>(opened));
  const KeepTimes times(fd.get());
  const int64_t brought = restore(fd.get(), owner);
  return brought < 0 ? sys::failed(brought, "displaced files below it cannot be restored", path)
                     : Status();
}

}  // namespace

Status discard_earlier(file::FileSystem& fs, uint64_t covers, const std::string& path,
                       const OpenOptions& options) {
  const std::string name = cover_name(path);
  auto record = read_record(fs, covers, name);
  if (record.code() == ENOENT) return Status();
  if (!record.ok()) return record.status();
  if (!options.launch.empty() && record->launch == options.launch) return Status();
  CAIRN_TRY_ASSIGN(state, state_of_cover(fs, name));
  options.left(state);
  if (state.in_use) return Status();
  // No process is in the cover, and none can join while this one holds the lock on covers.
  auto draining = lock_drain(fs, name);
  if (!draining.ok()) return draining.status();
  Cover cover;
  cover.fs = &fs;
  cover.path = path;
  cover.name = name;
  cover.covers = covers;
  CAIRN_TRY_ASSIGN(top, find_child(fs, covers, name));
  cover.top = top;
  // Before the record is removed: if this process is killed in between, the cover still knows which
  // files were removed.
  CAIRN_TRY(restore_below(path, record->owner));
  if (options.before_discard) CAIRN_TRY(options.before_discard(cover));
  CAIRN_TRY(remove_record(fs, covers, name));
  // From here on the cover does not exist. If this process is killed, the next one that opens a
  // cover removes the rest.
  CAIRN_TRY(wipe(fs, covers, name));
  CAIRN_TRY(wipe_parts(fs, name));
  return Journal::remove(fs, covers, name);
}

}  // namespace cairn::tier
