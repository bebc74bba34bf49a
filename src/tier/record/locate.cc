#include "tier/record/locate.h"

#include <vector>

#include "pool/lanes/seats.h"
#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"
#include "tier/record/attributes.h"
#include "tier/record/record.h"

namespace cairn::tier {
namespace {

Status gone(uint64_t number) {
  return fail(ESTALE, "inode %llu: its contents are in a covered directory that is no longer known",
              static_cast<unsigned long long>(number));
}

struct LookedAtBase {
  uint64_t device;
  bool keeps_birth;
};
Result<LookedAtBase> look_at_base(const std::string& path) {
  const int64_t opened = lower_base(path);
  if (opened < 0) return sys::failed(opened, "the covered directory", path);
  const sys::Descriptor base(static_cast<int>(opened));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(base.get(), &st); result < 0)
    return sys::failed(result, "the covered directory", path);
  return LookedAtBase{st.st_dev, sys::keeps_birth(base.get())};
}

}  // namespace

Result<file::Listed> entry_of(file::FileSystem& fs, const file::Map& directory, uint64_t unit,
                              uint64_t number) {
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  std::vector<file::Listed> batch(1);
  if (unit != 0) {
    auto n = file::list_names(fs, *seat, directory, unit - 1, batch.data(), 1);
    if (!n.ok()) return n.status();
    if (*n == 1 && batch[0].inode == number) return batch[0];
  }
  batch.resize(64);
  for (uint64_t cookie = 0;;) {
    auto n = file::list_names(fs, *seat, directory, cookie, batch.data(), batch.size());
    if (!n.ok()) return n.status();
    if (*n == 0) return gone(number);
    for (size_t i = 0; i < *n; ++i) {
      if (batch[i].inode == number) return batch[i];
    }
    cookie = batch[*n - 1].cookie;
  }
}

Result<const KnownCover*> cover_of_top(file::FileSystem& fs, uint64_t top) {
  auto inode = file::live_inode(fs, top);
  if (!inode.ok()) return inode.status();
  const uint64_t generation = (*inode)->generation.load();
  KnownCovers& known = lower_of(fs).covers();
  if (const KnownCover* found = known.find(top, generation); found != nullptr) return found;
  auto covers = find_covers(fs, false);
  if (!covers.ok()) return covers.status();
  if (*covers == 0 || (*inode)->directory.parent.load() != *covers) return nullptr;
  const KnownCover* made = nullptr;
  CAIRN_TRY(for_each_record(fs, [&](const std::string& name, const CoverRecord& record) -> Status {
    auto found = find_child(fs, *covers, name);
    if (!found.ok()) return found.status();
    if (*found != top) return Status();
    CAIRN_TRY_ASSIGN(looked, look_at_base(record.path));
    made = known.add({record.path, top, generation, looked.device, looked.keeps_birth});
    return Status();
  }));
  return made;
}

Status confirm_device(file::FileSystem& fs, uint64_t top, const std::string& path,
                      uint64_t device) {
  CAIRN_TRY_ASSIGN(known, cover_of_top(fs, top));
  if (known != nullptr && known->device == device) return Status();
  return move_cover(fs, top, path);
}

Status move_cover(file::FileSystem& fs, uint64_t top, const std::string& path) {
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, top));
  CAIRN_TRY_ASSIGN(looked, look_at_base(path));
  // The new element is the first in the list, so searches find it.
  lower_of(fs).covers().add(
      {path, top, inode->generation.load(), looked.device, looked.keeps_birth});
  return Status();
}

Result<LowerLocation> locate(file::FileSystem& fs, uint64_t number) {
  constexpr unsigned deepest = 4096;
  LowerLocation place;
  std::vector<std::string> names;
  uint64_t at = number;
  for (unsigned depth = 0; depth < deepest; ++depth) {
    auto inode = file::live_inode(fs, at);
    if (!inode.ok()) return inode.status();
    const uint64_t parent = (*inode)->lower_parent.load();
    if (parent == 0) {
      auto cover = cover_of_top(fs, at);
      if (!cover.ok()) return cover.status();
      if (*cover == nullptr) return gone(number);
      place.cover = *cover;
      place.path = place.cover->path;
      for (auto name = names.rbegin(); name != names.rend(); ++name) place.path += "/" + *name;
      return place;
    }
    auto above = file::live_inode(fs, parent);
    if (!above.ok()) return gone(number);
    auto entry = entry_of(fs, {*above, parent}, home_unit(**inode), at);
    if (!entry.ok()) return entry.status();
    names.emplace_back(entry->name, entry->length);
    if (at == number) {
      place.parent = parent;
      place.name = names.back();
      place.witness = entry->lower;
      place.was_evicted = ((*inode)->flags.load() & format::flag_evicted) != 0;
      if ((*inode)->ctime.load() == (*inode)->drained.load())
        place.owner = static_cast<uint32_t>((*inode)->owner.load());
      place.rights = {static_cast<uint32_t>((*inode)->owner.load()),
                      static_cast<uint32_t>((*inode)->owner.load() >> 32),
                      static_cast<uint32_t>((*inode)->mode.load()),
                      !place.owner && has_system_attributes(fs, {*inode, at})};
    }
    at = parent;
  }
  return gone(number);
}

// The name of an inode at home. ESTALE: it has left that, so what the pool remembers of lower under
// its present name is another file's. A directory that was just imported may not know its slot.
static Result<file::Listed> home_entry(file::FileSystem& fs, const file::Map& parent,
                                       const file::Map& map) {
  const uint64_t unit = home_unit(*map.inode);
  if (has_left_home(*map.inode)) return gone(map.number);
  CAIRN_TRY_ASSIGN(entry, entry_of(fs, parent, unit, map.number));
  if (unit != 0 && entry.unit + 1 != unit) return gone(map.number);
  return entry;
}

Status climb(file::FileSystem& fs, uint64_t directory, const Climb& visit) {
  constexpr unsigned deepest = 65536;  // as path_of(); a damaged pool may lead in a circle
  uint64_t at = directory;
  for (unsigned depth = 0; depth < deepest; ++depth) {
    auto inode = file::live_inode(fs, at);
    if (!inode.ok()) return inode.status();
    const uint64_t parent = (*inode)->lower_parent.load();
    if (parent == 0) return Status();
    auto above = file::live_inode(fs, parent);
    if (!above.ok()) return above.status();
    auto entry = home_entry(fs, {*above, parent}, {*inode, at});
    if (!entry.ok()) return entry.status();
    const uint64_t before = entry->lower.size;
    if (!entry->has_lower || !visit(at, &entry->lower.size)) return Status();
    if (entry->lower.size != before)
      CAIRN_TRY(set_witness(fs, {*above, parent}, std::string(entry->name, entry->length),
                            &entry->lower));
    at = parent;
  }
  return fail(EUCLEAN, "directory %llu: the chain of directories that it came from does not end",
              static_cast<unsigned long long>(directory));
}

Status raise_newest(file::FileSystem& fs, uint64_t directory, uint64_t newest) {
  return climb(fs, directory, [newest](uint64_t, uint64_t* known) {
    // If this directory knows a time as late, or holds an unknown entry, so do those above it.
    if (*known == newest_unknown || *known >= newest) return false;
    *known = newest;
    return true;
  });
}

Status note_owner(file::FileSystem& fs, uint64_t directory, const sys::FileStat& st) {
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, directory));
  const uint64_t parent = inode->lower_parent.load();
  if (parent == 0) return Status();
  CAIRN_TRY_ASSIGN(above, file::live_inode(fs, parent));
  CAIRN_TRY_ASSIGN(entry, home_entry(fs, {above, parent}, {inode, directory}));
  if (!entry.has_lower) return Status();
  note_owner_in(&entry.lower, st);
  return set_witness(fs, {above, parent}, std::string(entry.name, entry.length), &entry.lower);
}

}  // namespace cairn::tier
