#include "file/namespace/names.h"

#include "file/inode/attributes.h"
#include "file/inode/moving.h"
#include "file/inode/shape.h"
#include "file/namespace/locked_name.h"
#include "file/namespace/moved.h"
#include "file/namespace/name_changes.h"
#include "file/namespace/new_named.h"
#include "file/namespace/victim.h"
#include "file/open/ending.h"

namespace cairn::file {

using namespace names;  // NOLINT(google-build-using-namespace): the parts of this file

// A directory with S_ISGID passes its group on to new inodes, and the bit to new directories.
static void inherit_group(FileSystem& fs, const Inode& directory, Inode& made) {
  if ((directory.mode.load() & S_ISGID) == 0) return;
  fs.pool.store(made.owner, (made.owner.load() & 0xffffffff) | (directory.owner.load() >> 32)
                                                                   << 32);
  const uint64_t mode = made.mode.load();
  if (S_ISDIR(mode)) fs.pool.store(made.mode, mode | S_ISGID);
}

Result<Created> create_name(FileSystem& fs, uint64_t parent, std::string_view text,
                            const CreateRequest& request) {
  LockedName at(fs);
  CAIRN_TRY(at.take(parent, text));
  auto place = place_for(fs, at.directory, at.name);
  if (!place.ok()) return place.status();
  CAIRN_TRY(grow_index(fs, at.seat(), at.directory));
  NewNamed made(fs, at.seat());
  CAIRN_TRY(made.make(request.mode));
  const Map map = made.map();
  const uint64_t generation = map.inode->generation.load();
  const uint64_t now = map.inode->ctime.load();
  if (request.rdev != 0) fs.pool.store(map.inode->rdev, request.rdev);
  if (request.moving) mark_new(fs, at.seat(), *map.inode);
  inherit_group(fs, at.inode(), *map.inode);
  if (request.target != nullptr) CAIRN_TRY(made.write_target(*request.target));
  CAIRN_TRY(made.name(at, *place, nullptr, now));
  return Created{map, generation};
}

Result<Map> create_unnamed(FileSystem& fs, LocalSeat& seat, const Inode& directory, uint32_t mode,
                           bool may_get_name) {
  CAIRN_TRY(fs.pool.check_writable());
  auto made = make_inode(fs, seat, mode, pool::Need::ordinary);
  if (!made.ok()) return made.status();
  inherit_group(fs, directory, *made->inode);
  // Neither store is flushed: no power loss leaves an inode without a name, and the change that
  // adds its first name flushes this line.
  if (may_get_name) fs.pool.store(made->inode->flags, format::flag_nameless);
  return Map{made->inode, made->number};
}

// Returns true for a lazy file that a process has open: its bytes in lower are found by its name.
static bool needs_name(const Inode& inode) { return is_lazy(inode) && inode.opens.load() != 0; }

// Removes the name. If the file needs its name and is not the number `lost`, only returns the
// number in `lower`.
static Status unlink_once(FileSystem& fs, uint64_t parent, std::string_view text, const Seen* seen,
                          uint64_t lost, uint64_t* lower) {
  LockedName at(fs);
  CAIRN_TRY(at.take(parent, text));
  LocalSeat& seat = at.seat();
  auto slot = find_existing(fs, at.directory, at.name);
  if (!slot.ok()) return slot.status();
  if (seen != nullptr && (slot->inode != seen->number || slot->generation != seen->generation))
    return fail(ENOENT, "%.*s: it was replaced meanwhile", static_cast<int>(text.size()),
                text.data());
  auto map = live_map(fs, slot->inode);
  if (!map.ok()) return map.status();
  Inode& inode = *map->inode;
  if (S_ISDIR(inode.mode.load()))
    return fail(EISDIR, "%.*s: is a directory", static_cast<int>(text.size()), text.data());
  bool last_name = false;
  {
    pool::LockGuard inode_lock(fs.pool, seat, inode.lock);
    if (map->number != lost && needs_name(inode)) {
      *lower = map->number;
      return Status();
    }
    if (seen != nullptr && seen->ctime != 0 && attributes_of(fs, *map).ctime != seen->ctime)
      return fail(ESTALE, "%.*s: it was changed meanwhile", static_cast<int>(text.size()),
                  text.data());
    pool::RedoChange change(fs.pool, seat);
    const uint64_t now = now_ns();
    CAIRN_TRY(remove_name(fs, change, at.directory, *slot, at.name, now));
    const uint64_t links = inode.links.load() - 1;
    last_name = links == 0;
    if (!last_name) note_home_left(fs.pool, inode);
    if (!last_name) note_left_home(change, inode, at.directory, *slot);
    change.set(inode.links, links);
    change.set(inode.ctime, now);
    DirectoryChange moving(fs, seat, at.inode(), at.directory.number);
    std::optional<EndAtOnce> end;
    if (last_name) end.emplace(fs, seat, *map);
    const bool at_once = end.has_value() && end->possible();
    if (!at_once && map->number != lost && needs_name(inode)) {  // opened a moment ago
      *lower = map->number;
      return Status();
    }
    if (at_once) end->add(change);
    CAIRN_TRY(change.commit());
    if (at_once) end->finish();
    last_name = last_name && !at_once;
  }
  at.unlock();
  if (last_name) end_if_unused(fs, seat, map->number);
  return Status();
}

Status unlink_name(FileSystem& fs, uint64_t parent, std::string_view text, const Seen* seen) {
  // The loop repeats if the file was evicted after it had been staged.
  uint64_t lost = 0;
  for (int tries = 0; tries < most_tries_to_stage; ++tries) {
    uint64_t lower = 0;
    CAIRN_TRY(unlink_once(fs, parent, text, seen, lost, &lower));
    if (lower == 0) return Status();
    CAIRN_TRY(stage_victim(fs, lower, text, &lost));
  }
  return no_room_for_victim(text);
}

Status remove_directory(FileSystem& fs, uint64_t parent, std::string_view text) {
  LockedName at(fs);
  CAIRN_TRY(at.enter(parent, text));
  uint64_t lost = 0;  // only files are lazy
  CAIRN_TRY(fill_victim(fs, at.directory, at.name, &lost));
  CAIRN_TRY(at.lock());
  auto slot = find_existing(fs, at.directory, at.name);
  if (!slot.ok()) return slot.status();
  auto map = live_map(fs, slot->inode);
  if (!map.ok()) return map.status();
  const int length = static_cast<int>(text.size());
  if (!S_ISDIR(map->inode->mode.load()))
    return fail(ENOTDIR, "%.*s: not a directory", length, text.data());
  {
    pool::LockGuard inode_lock(fs.pool, at.seat(), map->inode->lock);
    if (is_lazy(*map->inode) || map->inode->directory.entries.load() != 0)
      return fail(ENOTEMPTY, "%.*s: directory not empty", length, text.data());
    pool::RedoChange change(fs.pool, at.seat());
    CAIRN_TRY(remove_name(fs, change, at.directory, *slot, at.name, now_ns()));
    change.set(map->inode->links, 0);
    change.set(at.inode().links, at.inode().links.load() - 1);
    DirectoryChange moving(fs, at.seat(), at.inode(), at.directory.number);
    CAIRN_TRY(change.commit());
  }
  at.unlock();
  end_if_unused(fs, at.seat(), map->number);
  return Status();
}

static Status link_once(FileSystem& fs, uint64_t number, uint64_t parent, std::string_view text,
                        uint64_t generation) {
  LockedName at(fs);
  CAIRN_TRY(at.enter(parent, text));
  auto map = live_map(fs, number);
  if (!map.ok()) return map.status();
  Inode& inode = *map->inode;
  if (S_ISDIR(inode.mode.load())) return fail(EPERM, "a directory has one name only");
  if (is_lazy(inode) && fs.lower != nullptr) CAIRN_TRY(fs.lower->stage(number));
  CAIRN_TRY(at.lock());
  auto place = place_for(fs, at.directory, at.name);
  if (!place.ok()) return place.status();
  CAIRN_TRY(grow_index(fs, at.seat(), at.directory));
  pool::LockGuard inode_lock(fs.pool, at.seat(), inode.lock);
  // Like the kernel: a file that has lost its last name gets no new one.
  const uint64_t flags = inode.flags.load();
  if (!is_live(inode) || (generation != 0 && inode.generation.load() != generation) ||
      (inode.links.load() == 0 && (flags & format::flag_nameless) == 0))
    return fail(ENOENT, "the file to be linked was removed");
  if (fs.lower != nullptr && is_lazy(inode)) return became_lazy;
  const uint64_t now = now_ns();
  note_name_change(fs.pool);
  note_home_left(fs.pool, inode);
  pool::RedoChange change(fs.pool, at.seat());
  CAIRN_TRY(insert_name(fs, at.seat(), change, at.directory, at.name, *place,
                        {number, type_of(inode.mode.load()), now, nullptr}));
  change.set(inode.links, inode.links.load() + 1);
  if ((flags & format::flag_nameless) != 0) change.set(inode.flags, flags & ~format::flag_nameless);
  change.set(inode.ctime, now);
  return change.commit();
}

Status link_inode(FileSystem& fs, uint64_t number, uint64_t parent, std::string_view text,
                  uint64_t generation) {
  Status status = became_lazy;
  while (status == became_lazy) status = link_once(fs, number, parent, text, generation);
  return status;
}

}  // namespace cairn::file
