// Drains files, symbolic links and special files: writes each under a temporary name, compares it
// with the pool, and publishes it.
#include "tier/drain/drain_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "file/inode/attributes.h"
#include "file/inode/pins.h"
#include "tier/drain/drain_lazy.h"
#include "tier/drain/drain_link.h"
#include "tier/drain/drain_moved.h"
#include "tier/drain/plan.h"
#include "tier/drain/write_temp_file.h"
#include "tier/record/attributes.h"
#include "tier/replace/clear_name.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/publish.h"
#include "tier/replace/reporting.h"
#include "tier/replace/while_running.h"
#include "tier/stage/from_pool.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

Tried try_once(const DrainName& item, InLower expected) {
  TempFile temp = new_temp_file(item, expected);
  const Tried written = write_temp_file(item, &temp);
  if (written != Tried::done) return written;
  const int64_t synced = temp.file.ok() ? sys::fsync(temp.file.get()) : 0;
  return publish_temp_file(item, synced, &temp);
}

}  // namespace

bool needs_writing(const DrainName& item, InLower* expected) {
  if (is_drained(item.state.fs, item.where, item.listed, item.map)) return false;
  sys::FileStat st = {};
  // The file may have been drained under this name before its directory was.
  const bool may_be_there = item.listed.has_lower &&
                            change_time(item.state.fs, item.map) == item.map.inode->drained.load();
  if ((item.map.inode->flags.load() & format::flag_lazy) != 0) {
    if (may_be_there && item.lower.fd() >= 0 &&
        look(item.state.known, static_cast<int>(item.lower.fd()), item.listed, &st) ==
            InLower::remembered)
      return false;
    if (drain_lazy(item)) return false;
  }
  const int64_t fd = item.lower.fd();
  if (fd < 0) {
    report_not_opened(item.state, item.where, item.where.path + "/" + name_of(item.listed), fd);
    return false;
  }
  if (may_be_there &&
      look(item.state.known, static_cast<int>(fd), item.listed, &st) == InLower::remembered) {
    if (item.map.inode->links.load() > 1 && item.state.linked.count(item.map.number) == 0)
      note_linked(item.state, item.where, item.listed, item.map, item.listed.lower,
                  counts_as_drained(item.map));
    return false;
  }
  if (item.lower.touch() < 0) {
    postpone(item.state, item.where, item.map);
    if (item.map.inode->links.load() > 1) item.state.linked[item.map.number].is_complete = false;
    return false;
  }
  if (item.map.inode->links.load() > 1 && drain_link(item)) return false;
  const Way way = clear_name(item, expected);
  if (way == Way::blocked && item.map.inode->links.load() > 1)
    item.state.linked[item.map.number].is_complete = false;
  return way == Way::free && !drain_moved(item, *expected);
}

void drain_name(const DrainName& item) {
  InLower expected = InLower::nothing;
  if (!needs_writing(item, &expected)) return;
  const Tried tried = try_again(item, [&] { return try_once(item, expected); });
  if (tried != Tried::done && item.map.inode->links.load() > 1)
    item.state.linked[item.map.number].is_complete = false;
}

}  // namespace cairn::tier
