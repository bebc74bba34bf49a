#include "tier/replace/clear_name.h"

#include <sys/stat.h>

#include "file/inode/attributes.h"
#include "tier/record/attributes.h"
#include "tier/replace/drain_notes.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/remove.h"
#include "tier/replace/reporting.h"
#include "tier/stage/from_pool.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

// Removes a directory in lower whose name the pool has given to something else.
bool clear_way(DrainState& state, const DrainDirectory& where, int directory,
               const file::Listed& listed) {
  const std::string path = where.path + "/" + name_of(listed);
  const Status status = replace_tree(state, where, directory, listed);
  if (status.ok()) return true;
  if (status.code() == ESTALE)
    report_conflict(state, where, listed,
                    "a directory that changed outside Cairn is there; both are kept");
  else
    report_failed(state, path, status);
  return false;
}

bool is_believed_or_of_pool(const DrainName& item, uint32_t uid) {
  return is_trusted_owner(uid, item.state.owner) ||
         uid == attributes_now(item.state.fs, item.map).uid;
}

}  // namespace

bool take_same_special(const DrainName& item) {
  const auto type = static_cast<uint32_t>(item.map.inode->mode.load()) & S_IFMT;
  if (type != S_IFLNK && type != S_IFIFO && type != S_IFSOCK) return false;
  sys::FileStat st = {};
  const uint64_t changed = change_time(item.state.fs, item.map);
  const auto directory = static_cast<int>(item.lower.fd());
  if (look(item.state.known, directory, item.listed, &st) != InLower::other ||
      !is_believed_or_of_pool(item, st.st_uid) || (st.st_mode & S_IFMT) != type ||
      !is_same_special(item.state.fs, directory, item.listed.name, item.map, st) ||
      !still_names(item.state.fs, item.where, item.listed, item.map))
    return false;
  if (!item.state.fs.pool.is_volatile && !item.lower.sync().ok()) return false;
  const file::Witness witness = witness_of(item.state.known, st);
  if (!remember(item.state, item.where, name_of(item.listed), &witness).ok()) return false;
  set_home(item.state.fs, item.where, name_of(item.listed), item.map, false);
  // Another name of it may have moved to where the walk had been already.
  if (item.map.inode->links.load() == 1 || !have_names_changed(item.state))
    set_drained(item.state.fs, item.map, changed);
  return true;
}

Way clear_name(const DrainName& item, InLower* expected) {
  sys::FileStat st = {};
  const auto directory = static_cast<int>(item.lower.fd());
  auto looked = try_to_look(item.state.known, directory, item.listed, &st);
  if (!looked.ok()) {
    const std::string path = item.where.path + "/" + name_of(item.listed);
    report_failed(item.state, path, sys::failed(-looked.code(), "stat", path));
    return Way::blocked;
  }
  *expected = *looked;
  if (*expected == InLower::other) {
    if (take_same_special(item)) return Way::not_needed;
    report_conflict(item.state, item.where, item.listed,
                    item.listed.has_lower ? "changed there outside Cairn; both are kept"
                                          : "created there outside Cairn; both are kept");
    return Way::blocked;
  }
  if (*expected == InLower::remembered && S_ISDIR(st.st_mode)) {
    if (!clear_way(item.state, item.where, directory, item.listed)) return Way::blocked;
    *expected = InLower::nothing;
  }
  return Way::free;
}

}  // namespace cairn::tier
