#include "checkpoint/store/set_names.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/saved_failure.h"
#include "checkpoint/record/medium_errors.h"
#include "checkpoint/record/way_back.h"
#include "checkpoint/store/new_file.h"
#include "checkpoint/store/set_record.h"
#include "file/namespace/names.h"
#include "file/recovery/damaged_names.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/seats.h"
#include "tier/record/record.h"
#include "tier/system/listing.h"
#include "tier/system/pool_file.h"

namespace cairn::checkpoint {
namespace {

// Finds the slot of a name that the index does not lead to.
Result<file::NamedSlot> find_damaged(file::FileSystem& fs, uint64_t directory,
                                     const std::string& text) {
  CAIRN_TRY_ASSIGN(name, file::make_name(text.data(), text.size()));
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, directory));
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  return file::find_beside_index(fs, {inode, directory}, name);
}

bool is_directory(file::FileSystem& fs, uint64_t number) {
  const file::Inode* inode = number == 0 ? nullptr : file::inode_at(fs, number);
  return inode != nullptr && file::is_live(*inode) && S_ISDIR(inode->mode.load());
}

// Finds a directory by its name or, if the name leads to none, by its inode. `is_it` chooses among
// directories without a name.
Result<uint64_t> find_directory(file::FileSystem& fs, uint64_t above, const std::string& name,
                                const std::function<bool(uint64_t)>& is_it) {
  const auto named = find_name(fs, above, name);
  const bool is_one = named.ok() && is_directory(fs, *named);
  if (is_one && file::inode_at(fs, *named)->directory.parent.load() == above) return *named;
  const cairn::SavedFailure saved(named.status());
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, above));
  for (const uint64_t number : file::find_unnamed(fs, {inode, above}))
    if (is_it(number)) return number;
  if (is_one) return *named;
  if (!named.ok()) return saved.restored();
  if (*named == 0) return uint64_t{0};
  CAIRN_TRY(file::live_inode(fs, *named).status());
  return fail(EUCLEAN, "its name \"%s\" leads to inode %llu, which is not a directory",
              name.c_str(), static_cast<unsigned long long>(*named));
}

// Returns true for the directory of all sets.
bool holds_sets(file::FileSystem& fs, uint64_t directory) {
  bool holds = false;
  file::check_names(
      fs, {file::inode_at(fs, directory), directory}, [](const char* /*finding*/) {},
      [&](const file::Listed& listed) {
        holds =
            holds || (is_directory(fs, listed.inode) && !recorded_name(fs, listed.inode).empty());
      });
  return holds;
}

// Returns why this directory may hide a set, or "".
Result<std::string> finding_in(file::FileSystem& fs, uint64_t directory) {
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, directory));
  CAIRN_TRY_ASSIGN(finding, file::first_finding(fs, {inode, directory}));
  if (!finding.empty()) return finding;
  CAIRN_TRY_ASSIGN(unnamed, file::find_unnamed_locked(fs, {inode, directory}));
  if (unnamed.empty()) return std::string();
  return "directory " + std::to_string(unnamed.front()) + " lies in directory " +
         std::to_string(directory) + ", and no name leads to it";
}

}  // namespace

Result<uint64_t> find_name(file::FileSystem& fs, uint64_t directory, const std::string& name) {
  const auto found = tier::find_child(fs, directory, name);
  if (found.ok() && *found != 0) return *found;
  const cairn::SavedFailure saved(found.status());
  CAIRN_TRY_ASSIGN(slot, find_damaged(fs, directory, name));
  if (slot.inode == 0 && !found.ok()) return saved.restored();
  return slot.inode;
}

Result<std::vector<uint8_t>> read_whole(file::FileSystem& fs, uint64_t directory,
                                        const std::string& name, uint64_t most) {
  CAIRN_TRY_ASSIGN(number, find_name(fs, directory, name));
  if (number == 0) return fail(ENOENT, "%s: there is none", name.c_str());
  tier::PoolFile file(fs, number, O_RDONLY);
  CAIRN_TRY(file.status());
  return read_begin(*file, most);
}

Status remove_name(file::FileSystem& fs, uint64_t directory, const std::string& name) {
  const Status removed = file::unlink_name(fs, directory, name);
  if (removed.ok()) return removed;
  const cairn::SavedFailure saved(removed);
  CAIRN_TRY_ASSIGN(slot, find_damaged(fs, directory, name));
  if (slot.inode != 0) return file::clear_slot(fs, directory, slot.unit, slot.inode, true);
  return removed.code() == ENOENT ? Status() : saved.restored();
}

std::string recorded_name(file::FileSystem& fs, uint64_t directory) {
  const auto bytes = read_whole(fs, directory, set_file_name, set_copy_offset + sizeof(SetRecord));
  bool are_both_right = false;
  const auto record =
      bytes.ok() ? read_set_copies(*bytes, &are_both_right) : Result<SetRecord>(bytes.status());
  return record.ok() ? name_in(*record) : "";
}

Result<uint64_t> find_sets(file::FileSystem& fs) {
  const auto found = find_directory(fs, format::root_inode, checkpoints_directory,
                                    [&](uint64_t number) { return holds_sets(fs, number); });
  if (found.ok()) return found;
  return annotate(found.status(), "pool %s: directory /%s", fs.pool.path.c_str(),
                  checkpoints_directory);
}

Result<SetPlace> find_set(file::FileSystem& fs, const std::string& name) {
  SetPlace place;
  CAIRN_TRY_ASSIGN(all, find_sets(fs));
  place.all = all;
  if (all == 0) return place;
  const auto directory = find_directory(
      fs, all, name, [&](uint64_t number) { return recorded_name(fs, number) == name; });
  if (!directory.ok())
    return annotate(directory.status(), "pool %s: directory /%s/%s", fs.pool.path.c_str(),
                    checkpoints_directory, name.c_str());
  place.directory = *directory;
  return place;
}

bool is_set_being_made(file::FileSystem& fs, const std::string& name) {
  uint64_t at = format::root_inode;
  for (const std::string& text :
       {std::string(checkpoints_directory), name, std::string(set_file_name)}) {
    const auto found = tier::find_child(fs, at, text);
    if (!found.ok() || *found == 0) return false;
    const file::Inode* inode = file::inode_at(fs, *found);
    if (inode == nullptr) return false;
    const uint64_t state = inode->state.load();
    const bool is_allocating =
        (state & ((1U << format::state_bits) - 1)) == format::inode_allocating;
    if (is_allocating) return !pool::is_void(fs.pool, state >> format::state_bits);
    at = *found;
  }
  return false;
}

Status remove_set_directory(file::FileSystem& fs, const SetPlace& place, const std::string& name) {
  const Status removed = file::remove_directory(fs, place.all, name);
  if (removed.code() != ENOENT) return removed;
  CAIRN_TRY_ASSIGN(slot, find_damaged(fs, place.all, name));
  if (slot.inode != place.directory) return Status();
  return file::clear_slot(fs, place.all, slot.unit, slot.inode, true);
}

Status check_no_set_is_hidden(file::FileSystem& fs, const std::string& name) {
  CAIRN_TRY_ASSIGN(all, find_sets(fs));
  for (const uint64_t directory : {format::root_inode, all}) {
    if (directory == 0) continue;
    CAIRN_TRY_ASSIGN(finding, finding_in(fs, directory));
    if (!finding.empty())
      return fail(EUCLEAN,
                  "checkpoint set %s: pool %s: %s: the pool may hold the set under a damaged name; "
                  "run `cairn pool check` for details; %s",
                  name.c_str(), fs.pool.path.c_str(), finding.c_str(),
                  use_another_pool(name).c_str());
  }
  return Status();
}

Result<std::vector<std::string>> list_sets(file::FileSystem& fs) {
  std::vector<std::string> names;
  const auto found = find_sets(fs);
  if (!found.ok() && is_of_medium(found.status()))
    return fail(EUCLEAN, "%s; %s", std::string(last_detail()).c_str(),
                use_another_pool("SET").c_str());
  CAIRN_TRY(found.status());
  const uint64_t all = *found;
  if (all == 0) return names;
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, all));
  const file::Map map{inode, all};
  CAIRN_TRY_ASSIGN(finding, file::first_finding(fs, map));
  const auto add = [&](std::string name) {
    if (check_set_name(name).ok()) names.push_back(std::move(name));
  };
  if (finding.empty()) {
    CAIRN_TRY(tier::for_each_name(fs, map, false, [&](const file::Listed& listed) {
      add(tier::name_of(listed));
      return Status();
    }));
  } else {
    file::check_names(
        fs, map, [](const char* /*finding*/) {},
        [&](const file::Listed& listed) {
          const std::string recorded = recorded_name(fs, listed.inode);
          add(recorded.empty() ? tier::name_of(listed) : recorded);
        });
    for (const uint64_t number : file::find_unnamed(fs, map)) add(recorded_name(fs, number));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace cairn::checkpoint
