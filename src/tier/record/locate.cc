// Finds the path of a lazy inode in lower. Each imported inode knows the directory and the slot of
// its name there. A lazy inode has not moved, so these lead up to the covered directory.
#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
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

struct Base {
  uint64_t device;
  bool keeps_birth;
};
Result<Base> look_at_base(const std::string& path) {
  const int64_t opened = lower_base(path);
  if (opened < 0) return sys::failed(opened, "the covered directory", path);
  const sys::Descriptor base(static_cast<int>(opened));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(base.get(), &st); result < 0)
    return sys::failed(result, "the covered directory", path);
  return Base{st.st_dev, sys::keeps_birth(base.get())};
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

LowerTree::~LowerTree() {
  for (Known* known = known_.load(); known != nullptr;) {
    Known* next = known->next;
    delete known;
    known = next;
  }
}

Result<const Known*> LowerTree::cover_of_top(uint64_t top) {
  auto inode = file::live_inode(fs_, top);
  if (!inode.ok()) return inode.status();
  const uint64_t generation = (*inode)->generation.load();
  for (const Known* known = known_.load(); known != nullptr; known = known->next) {
    if (known->top == top && known->generation == generation) return known;
  }
  auto covers = find_covers(fs_, false);
  if (!covers.ok()) return covers.status();
  if (*covers == 0 || (*inode)->directory.parent.load() != *covers) return nullptr;
  const Known* made = nullptr;
  CAIRN_TRY(for_each_record(fs_, [&](const std::string& name, const CoverRecord& record) -> Status {
    auto found = find_child(fs_, *covers, name);
    if (!found.ok()) return found.status();
    if (*found != top) return Status();
    CAIRN_TRY_ASSIGN(looked, look_at_base(record.path));
    made = make_known({record.path, top, generation, looked.device, looked.keeps_birth});
    return Status();
  }));
  return made;
}

const Known* LowerTree::make_known(const Known& known) {
  auto* made = new Known(known);
  made->next = known_.load();
  // An element in the list never changes, so the list needs no lock, and fork needs no handler.
  while (!known_.compare_exchange_weak(made->next, made)) {
  }
  return made;
}

Status LowerTree::confirm_device(uint64_t top, const std::string& path, uint64_t device) {
  CAIRN_TRY_ASSIGN(known, cover_of_top(top));
  if (known != nullptr && known->device == device) return Status();
  return move_cover(top, path);
}

Status LowerTree::move_cover(uint64_t top, const std::string& path) {
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs_, top));
  CAIRN_TRY_ASSIGN(looked, look_at_base(path));
  // The new element is the first in the list, so searches find it.
  make_known({path, top, inode->generation.load(), looked.device, looked.keeps_birth});
  return Status();
}

Result<Place> LowerTree::locate(uint64_t number) {
  constexpr unsigned deepest = 4096;
  Place place;
  std::vector<std::string> names;
  uint64_t at = number;
  for (unsigned depth = 0; depth < deepest; ++depth) {
    auto inode = file::live_inode(fs_, at);
    if (!inode.ok()) return inode.status();
    const uint64_t parent = (*inode)->lower_parent.load();
    if (parent == 0) {
      auto cover = cover_of_top(at);
      if (!cover.ok()) return cover.status();
      if (*cover == nullptr) return gone(number);
      place.cover = *cover;
      place.path = place.cover->path;
      for (auto name = names.rbegin(); name != names.rend(); ++name) place.path += "/" + *name;
      return place;
    }
    auto above = file::live_inode(fs_, parent);
    if (!above.ok()) return gone(number);
    const uint64_t unit = (*inode)->lower_unit.load() & ~unit_is_new;
    auto entry = entry_of(fs_, {*above, parent}, unit, at);
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
                      !place.owner && has_system_attributes(fs_, {*inode, at})};
    }
    at = parent;
  }
  return gone(number);
}

Status LowerTree::climb(uint64_t directory, const Climb& visit) {
  constexpr unsigned deepest = 65536;  // as path_of(); a damaged pool may lead in a circle
  uint64_t at = directory;
  for (unsigned depth = 0; depth < deepest; ++depth) {
    auto inode = file::live_inode(fs_, at);
    if (!inode.ok()) return inode.status();
    const uint64_t parent = (*inode)->lower_parent.load();
    if (parent == 0) return Status();
    auto above = file::live_inode(fs_, parent);
    if (!above.ok()) return above.status();
    const uint64_t unit = (*inode)->lower_unit.load() & ~unit_is_new;
    auto entry = entry_of(fs_, {*above, parent}, unit, at);
    if (!entry.ok()) return entry.status();
    const uint64_t before = entry->lower.size;
    if (!entry->has_lower || !visit(at, &entry->lower.size)) return Status();
    if (entry->lower.size != before)
      CAIRN_TRY(set_witness(fs_, {*above, parent}, std::string(entry->name, entry->length),
                            &entry->lower));
    at = parent;
  }
  return fail(EUCLEAN, "directory %llu: the chain of directories that it came from does not end",
              static_cast<unsigned long long>(directory));
}

Status LowerTree::raise_newest(uint64_t directory, uint64_t newest) {
  return climb(directory, [newest](uint64_t, uint64_t* known) {
    // If this directory knows a time as late, or holds an unknown entry, so do those above it.
    if (*known == newest_unknown || *known >= newest) return false;
    *known = newest;
    return true;
  });
}

Status LowerTree::note_owner(uint64_t directory, const sys::FileStat& st) {
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs_, directory));
  const uint64_t parent = inode->lower_parent.load();
  if (parent == 0) return Status();
  CAIRN_TRY_ASSIGN(above, file::live_inode(fs_, parent));
  CAIRN_TRY_ASSIGN(
      entry, entry_of(fs_, {above, parent}, inode->lower_unit.load() & ~unit_is_new, directory));
  if (!entry.has_lower) return Status();
  note_owner_in(&entry.lower, st);
  return set_witness(fs_, {above, parent}, std::string(entry.name, entry.length), &entry.lower);
}

std::unique_ptr<file::Lower> make_lower(file::FileSystem& fs) {
  // In a program that `cairn run` started, calls must pass by the preloaded library.
  if (std::getenv("CAIRN_COVER") != nullptr) sys::call_past_preload();
  return std::make_unique<LowerTree>(fs);
}

LowerTree& lower_of(file::FileSystem& fs) {
  // attach() sets `lower`. A file system that was made in another way gets one here, for good.
  if (fs.lower == nullptr) fs.lower = make_lower(fs).release();
  return *static_cast<LowerTree*>(fs.lower);
}

}  // namespace cairn::tier
