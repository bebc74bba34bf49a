// Removes a slot of a damaged directory to which no name leads.
#include "file/inode/shape.h"
#include "file/namespace/directory_slots.h"
#include "file/namespace/locked_name.h"
#include "file/namespace/names.h"
#include "file/open/ending.h"

namespace cairn::file {

using namespace names;  // NOLINT(google-build-using-namespace): the parts of this file

namespace {

// Returns true if there is no live name; the directory's count may be damaged.
bool is_empty(const FileSystem& fs, const Map& directory) {
  Listed slot;
  for (uint64_t cookie = 0;;) {
    const auto n = list_slots(fs, directory, cookie, &slot, 1);
    if (!n.ok()) return true;  // what lies behind the damage is lost
    if (*n == 0) return true;
    if (!slot.whiteout) return false;
    cookie = slot.cookie;
  }
}

void count_down(pool::RedoChange& change, Word& word) {
  const uint64_t count = change.get(word);
  if (count != 0) change.set(word, count - 1);
}

// Empties the slot. If the index leads to the slot, it can be reused.
Status clear(FileSystem& fs, pool::RedoChange& change, const Map& directory, const Listed& listed) {
  auto& words = directory.inode->directory;
  const uint64_t entries = words.entries.load();
  auto name = make_name(listed.name, listed.length);
  const auto found =
      name.ok() ? find_name(fs, directory, *name, true) : Result<DirentSlot>(DirentSlot());
  if (found.ok() && found->dirent != nullptr && found->unit == listed.unit) {
    CAIRN_TRY(remove_name(fs, change, directory, *found, *name, now_ns()));
    if (entries == 0) change.set(words.entries, 0);
    return Status();
  }
  slots::Dirent* dirent = slots::dirent_at(fs, directory, listed.unit);
  if (dirent == nullptr) return slots::damaged_directory(directory);
  // The slot stays in its chain, if it is in one, as one that is not live.
  const unsigned units = format::dirent_units(dirent->head.load());
  change.set(dirent->head, format::dirent_head(0, 0, 0, units, 0));
  count_down(change, words.entries);
  return Status();
}

}  // namespace

Status clear_slot(FileSystem& fs, uint64_t parent, uint64_t unit, uint64_t number,
                  bool with_inode) {
  CAIRN_TRY(fs.pool.check_writable());
  auto directory = live_map(fs, parent);
  if (!directory.ok()) return directory.status();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  bool last_name = false;
  {
    pool::LockGuard lock(fs.pool, *seat, directory->inode->lock);
    Listed listed;
    CAIRN_TRY_ASSIGN(n, list_slots(fs, *directory, unit, &listed, 1));
    if (n == 0 || listed.unit != unit || listed.inode != number || listed.whiteout) return Status();
    Inode* inode = inode_at(fs, number);
    if (!with_inode || inode == nullptr || !is_live(*inode) || number == parent) inode = nullptr;
    std::optional<pool::LockGuard> inode_lock;
    if (inode != nullptr) inode_lock.emplace(fs.pool, *seat, inode->lock);
    pool::RedoChange change(fs.pool, *seat);
    CAIRN_TRY(clear(fs, change, *directory, listed));
    const bool is_directory = inode != nullptr && S_ISDIR(inode->mode.load());
    if (is_directory && inode->directory.parent.load() == parent && number != format::root_inode) {
      if (!is_empty(fs, {inode, number}))
        return fail(ENOTEMPTY, "directory %llu: not empty",
                    static_cast<unsigned long long>(number));
      change.set(inode->links, 0);
      count_down(change, directory->inode->links);
      last_name = true;
    } else if (inode != nullptr && !is_directory) {
      count_down(change, inode->links);
      last_name = change.get(inode->links) == 0;
    }
    DirectoryChange moving(fs, *seat, *directory->inode, parent);
    CAIRN_TRY(change.commit());
  }
  if (last_name) end_if_unused(fs, *seat, number);
  return Status();
}

}  // namespace cairn::file
