// Finds entries of lower that the pool does not know. A drain does not remove a directory that
// holds one.
//
// The witness of a directory holds the newest time that the pool knows of it, so an entry with a
// later time is unknown. But each drain makes that time later. So before it does, it looks for
// unknown entries in directories that have changed. From such an entry up to the top, no time
// counts until a later drain does not find the entry any more.
#include "tier/replace/unknown_entries.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tier/replace/drain_notes.h"
#include "tier/replace/drain_state.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

// Remembered holds what the pool knows of a name in lower.
struct Remembered {
  bool has_lower = false;
  bool is_looked_at_later = false;  // it is a directory that has no place in lower yet
  file::Witness witness;
};

Result<std::map<std::string, Remembered>> remembered_names(DrainState& state,
                                                           const DrainDirectory& where) {
  std::map<std::string, Remembered> names;
  const Status status =
      for_each_name(state.fs, where.map, true, [&](const file::Listed& listed) -> Status {
        Remembered name{listed.has_lower, false, listed.lower};
        auto inode = file::live_inode(state.fs, listed.inode);
        if (!listed.whiteout && inode.ok() && S_ISDIR((*inode)->mode.load())) {
          const file::Map map{*inode, listed.inode};
          name.is_looked_at_later = is_new_in_lower(map) || !is_at_home(where, listed, map);
        }
        names[name_of(listed)] = name;
        return Status();
      });
  if (!status.ok()) return status;
  return names;
}

bool is_known(const DrainState& state, const Remembered& name, const sys::FileStat& st) {
  if (S_ISDIR(st.st_mode) && name.is_looked_at_later) return true;
  return name.has_lower && is_remembered(state.known, name.witness, st);
}

// The newest time in a directory of lower; newest_unknown if it holds an unknown entry.
Result<uint64_t> newest_in(DrainState& state, const DrainDirectory& where) {
  const int64_t opened = open_directory(state.beneath, where.path, state.known, &*where.witness);
  if (opened < 0) return sys::failed(opened, "open", where.path);
  const sys::Descriptor fd(static_cast<int>(opened));
  sys::FileStat st = {};
  std::vector<sys::DirectoryEntry> entries;
  if (sys::fstat(fd.get(), &st) < 0 || sys::list(fd.get(), &entries) < 0) return newest_unknown;
  uint64_t newest = sys::ctime_of(st);
  auto names = remembered_names(state, where);
  if (!names.ok()) return names.status();
  for (const sys::DirectoryEntry& entry : entries) {
    if (is_hidden(entry.name) || sys::lstatat(fd.get(), entry.name.c_str(), &st) < 0) continue;
    const auto name = names->find(entry.name);
    if (name == names->end() || !is_known(state, name->second, st)) return newest_unknown;
    // The witness of a directory holds the newest time of all that is below it.
    newest = std::max(newest, S_ISDIR(st.st_mode) ? name->second.witness.size : sys::ctime_of(st));
  }
  return newest;
}

}  // namespace

void look_for_unknown_entries(DrainState& state, const DrainDirectory& above,
                              const file::Listed& listed, const file::Map& map) {
  if (!is_at_home(above, listed, map)) return;
  const DrainDirectory where{listed.inode, map, above.path + "/" + name_of(listed), false,
                             listed.lower};
  sys::FileStat st = {};
  const int64_t opened = state.beneath.open(where.path, O_PATH | O_NOFOLLOW);
  if (opened == -ENOENT && !above.fresh) state.removed_dirs.insert(where.inode);
  if (opened < 0) return;
  const sys::Descriptor fd(static_cast<int>(opened));
  if (sys::fstat(fd.get(), &st) < 0 || !S_ISDIR(st.st_mode) ||
      !is_remembered(state.known, listed.lower, st) || sys::ctime_of(st) <= listed.lower.size)
    return;
  auto newest = newest_in(state, where);
  if (newest.ok() && *newest != newest_unknown)
    state.unchanged_dirs[where.inode] = *newest;
  else
    note_unknown_entry(state, where.inode);
}

}  // namespace cairn::tier
