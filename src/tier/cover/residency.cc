#include "tier/cover/residency.h"

#include <fcntl.h>

#include <algorithm>

#include "file/inode/attributes.h"
#include "file/namespace/moved.h"
#include "file/namespace/names.h"
#include "pool/lanes/seats.h"
#include "tier/cover/drain.h"
#include "tier/lower/beneath.h"
#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"
#include "tier/record/locate.h"
#include "tier/replace/drain_state.h"

namespace cairn::tier {
namespace {

// Does lower have the directories above a name, where the pool has them?
enum class LowerParents : uint8_t { missing, unfinished, there };

LowerParents lower_parents_of(file::FileSystem& fs, const CoveredName& name) {
  LowerParents parents = LowerParents::there;
  for (size_t i = 0; i + 1 < name.way.size(); ++i) {
    auto inode = file::live_inode(fs, name.way[i]);
    if (!inode.ok() || (*inode)->lower_parent.load() != name.way[i + 1])
      return LowerParents::missing;
    auto above = file::live_inode(fs, name.way[i + 1]);
    if (!above.ok()) return LowerParents::missing;
    const file::Map map{*inode, name.way[i]};
    if (is_new_in_lower(map)) parents = LowerParents::unfinished;
    auto entry = entry_of(fs, {*above, name.way[i + 1]}, home_unit(**inode), name.way[i]);
    if (!entry.ok() || !is_at_home({name.way[i + 1], {*above, name.way[i + 1]}}, *entry, map))
      return LowerParents::missing;
  }
  return parents;
}

DrainMode mode_from(file::FileSystem& fs, const std::vector<uint64_t>& way) {
  for (const uint64_t directory : way) {
    auto inode = file::live_inode(fs, directory);
    if (!inode.ok()) continue;
    const DrainMode mode = own_drain_mode(fs, {*inode, directory});
    if (mode != DrainMode::inherit) return mode;
  }
  return DrainMode::inherit;
}

Result<bool> is_not_drained(const Cover& cover, const CoveredName& name) {
  file::FileSystem& fs = *cover.fs;
  CAIRN_TRY_ASSIGN(entry, entry_of(fs, name.directory, name.unit, name.map.number));
  const bool is_fresh = lower_parents_of(fs, name) != LowerParents::there;
  return is_left_out(
      fs, {name.directory.number, name.directory, "", is_fresh, {}, mode_from(fs, name.way)}, entry,
      name.map);
}

// The path of a name in lower.
Result<std::string> path_in_lower(const Cover& cover, const CoveredName& name,
                                  const file::Listed& entry) {
  CAIRN_TRY_ASSIGN(directory, file::path_of(*cover.fs, cover.top, name.directory.number));
  return cover.path + (directory == "/" ? "" : directory) + "/" +
         std::string(entry.name, entry.length);
}

}  // namespace

DrainMode mode_of(const Cover& cover, const CoveredName& name) {
  return drain_mode_in(*cover.fs, name.map, mode_from(*cover.fs, name.way));
}

Status check_is_drained(const Cover& cover, const CoveredName& name, const char* path) {
  CAIRN_TRY_ASSIGN(never, is_not_drained(cover, name));
  return never ? fail(EPERM, "%s: is not drained, because its drain mode is never", path)
               : Status();
}

Result<bool> is_in_lower(const Cover& cover, const CoveredName& name) {
  file::FileSystem& fs = *cover.fs;
  if (name.directory.inode == nullptr) return true;
  if (change_time(fs, name.map) != name.map.inode->drained.load()) return false;
  CAIRN_TRY_ASSIGN(entry, entry_of(fs, name.directory, name.unit, name.map.number));
  if (!entry.has_lower) return false;
  const LowerParents parents = lower_parents_of(fs, name);
  if (parents != LowerParents::unfinished) return parents == LowerParents::there;
  CAIRN_TRY_ASSIGN(known, cover_of_top(fs, cover.top));
  if (known == nullptr) return fail(ENOENT, "%s is not covered any more", cover.path.c_str());
  CAIRN_TRY_ASSIGN(path, path_in_lower(cover, name, entry));
  const int64_t base = lower_base(cover.path);
  if (base < 0) return sys::failed(base, "open", cover.path);
  const Beneath beneath(sys::Descriptor(static_cast<int>(base)), cover.path);
  const int64_t opened = beneath.open(path, O_PATH | O_NOFOLLOW);
  if (opened == -ENOENT || opened == -ENOTDIR) return false;
  if (opened < 0) return sys::failed(opened, "open", path);
  const sys::Descriptor file(static_cast<int>(opened));
  return check_file(file.get(), *known, entry.lower) == 0;
}

Result<Residency> residency_of(const Cover& cover, const CoveredName& name) {
  file::FileSystem& fs = *cover.fs;
  Residency found;
  file::Attributes attributes;
  {
    const pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    attributes = file::attributes_of(fs, name.map);
  }
  found.size = attributes.size;
  CAIRN_TRY_ASSIGN(drained, is_in_lower(cover, name));
  found.is_drained = drained;
  if ((attributes.flags & format::flag_lazy) != 0) {
    found.lower_bytes = attributes.size;
    return found;
  }
  found.pool_bytes = attributes.blocks * format::block_size;
  CAIRN_TRY_ASSIGN(never, is_not_drained(cover, name));
  // A file that was only renamed is linked in lower, not written.
  if (!drained && !never && !file::has_only_moved(*name.map.inode))
    found.undrained_bytes = std::min(found.size, found.pool_bytes);
  return found;
}

Status drain_one(Cover& cover, const CoveredName& name, const char* path, DrainCalls calls,
                 DrainReport* report) {
  CAIRN_TRY_ASSIGN(before, is_in_lower(cover, name));
  if (before) return Status();
  CAIRN_TRY(check_is_drained(cover, name, path));
  if (name.map.inode->links.load() != 1)
    return fail(EBUSY, "%s: has more than one name; a drain of the directory writes it", path);
  std::unordered_set<uint64_t> only(name.way.begin(), name.way.end());
  only.insert(name.map.number);
  calls.only = &only;
  CAIRN_TRY(drain(cover, calls, report));
  CAIRN_TRY_ASSIGN(after, is_in_lower(cover, name));
  if (after) return Status();
  return fail(EBUSY, "%s: cannot be drained now: it is mapped, or was changed, renamed or removed",
              path);
}

}  // namespace cairn::tier
