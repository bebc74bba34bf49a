#include "file/names_parts.h"

#include "file/sync.h"
#include "pool/space.h"

namespace cairn::file::names {

Status check_alive(const Map& directory, uint64_t found) {
  const Inode& inode = *directory.inode;
  if (!is_what_was_found(directory, found) || inode.links.load() == 0 ||
      !S_ISDIR(inode.mode.load()))
    return fail(ENOENT, "directory %llu was removed",
                static_cast<unsigned long long>(directory.number));
  return Status();
}

Result<Name> checked_name(std::string_view text) {
  if (text.size() <= format::max_name && !is_sound_name(text.data(), text.size()))
    return fail(EINVAL, "\"%s\" is not a name", shown_name(text.data(), text.size()).c_str());
  return make_name(text.data(), text.size());
}

Result<Map> live_map(FileSystem& fs, uint64_t number) {
  auto inode = live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  return Map{*inode, number};
}

Result<Slot> find_existing(const FileSystem& fs, const Map& directory, const Name& name) {
  auto slot = find_name(fs, directory, name);
  if (slot.code() == ENOENT)
    return fail(ENOENT, "%.*s: no such file or directory", static_cast<int>(name.length),
                name.text);
  // Its lock is held already.
  if (slot.ok() && slot->inode == directory.number)
    return fail(EUCLEAN, "directory %llu: slot %llu, \"%s\", names the directory itself",
                static_cast<unsigned long long>(directory.number),
                static_cast<unsigned long long>(slot->unit),
                shown_name(name.text, name.length).c_str());
  return slot;
}

Status sync_what_replaces(FileSystem& fs, NamePlace from, NamePlace to, bool exchange) {
  if (fs.pool.is_volatile || !is_page_medium(fs.pool)) return Status();
  Map unsynced[2];
  {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    const auto source = find_name(fs, from.directory, from.name);
    const auto target = find_name(fs, to.directory, to.name);
    if (!source.ok() || !target.ok()) return Status();
    const auto note = [&fs](uint64_t number, Map* map) {
      auto found = live_map(fs, number);
      if (found.ok() && S_ISREG(found->inode->mode.load()) &&
          found->inode->file.unsynced.load() != 0)
        *map = *found;
    };
    note(source->inode, &unsynced[0]);
    if (exchange) note(target->inode, &unsynced[1]);
  }
  for (const Map& map : unsynced) {
    if (map.inode != nullptr) CAIRN_TRY(sync_file(fs, map));
  }
  return Status();
}

Status LockedName::enter(uint64_t parent, std::string_view text) {
  CAIRN_TRY(fs_.pool.check_writable());
  auto checked = checked_name(text);
  if (!checked.ok()) return checked.status();
  name = *checked;
  found_ = parent;
  auto entered = enter_directory(fs_, parent);
  if (!entered.ok()) return entered.status();
  directory = *entered;
  return Status();
}

Status LockedName::lock() {
  seat_.emplace(fs_.pool);
  if (!seat_->ok()) return pool::no_seat(fs_.pool);
  lock_.emplace(fs_.pool, **seat_, directory.inode->lock);
  return check_alive(directory, found_);
}

Status Making::make(uint32_t mode) {
  auto made = make_inode(fs_, seat_, mode, pool::Need::ordinary);
  if (made.ok()) made_ = *made;
  return made.status();
}

Making::~Making() {
  if (made_.inode == nullptr) return;
  // Only a link's text can be there: one block, named by direct[0].
  const Entry entry{made_.inode->direct[0].load()};
  if (entry && fs_.pool.valid(entry.block()))
    pool::free_published(fs_.pool, seat_, entry.block(), 1, &made_.inode->direct[0]);
  unmake_inode(fs_, seat_, made_);
}

Status Making::write_target(std::string_view target) {
  Inode& inode = *made_.inode;
  fs_.pool.store(inode.size, target.size());
  if (target.size() <= format::inline_bytes) {
    pool::Segment& segment = fs_.pool.segment_of(&inode);
    return segment.region.copy(static_cast<uint64_t>(inode.text - segment.base), target.data(),
                               target.size());
  }
  auto block = block_for(fs_.pool, seat_, map(), 0, pool::Need::ordinary);
  if (!block.ok()) return block.status();
  return fs_.pool.copy_in(*block, 0, target.data(), target.size());
}

Status Making::name(LockedName& at, const Slot& place, const LowerIdentity* lower, uint64_t now) {
  Inode& inode = *made_.inode;
  const uint64_t mode = inode.mode.load();
  const bool is_directory = S_ISDIR(mode);
  fs_.pool.store(inode.links, is_directory ? 2 : 1);
  if (is_directory) {
    fs_.pool.store(inode.directory.parent, at.directory.number);
    fs_.pool.store(inode.flags,
                   inode.flags.load() | (at.inode().flags.load() & format::flag_covered));
  }
  fs_.pool.flush(&inode, sizeof inode);
  pool::Change change(fs_.pool, seat_);
  CAIRN_TRY(insert_name(fs_, seat_, change, at.directory, at.name, place,
                        {made_.number, type_of(mode), now, lower}));
  change.set(inode.state, format::inode_live);
  if (is_directory) change.set(at.inode().links, at.inode().links.load() + 1);
  const Status status = change.commit();
  // A failure to write back leaves the record, and with it the inode, to recovery.
  made_ = {};
  inode_is_made(fs_, seat_);
  return status;
}

// Whether a directory that is about to be removed is empty is known only once lower was asked.
Result<uint64_t> lower_inode(FileSystem& fs, const Map& directory, const Name& name) {
  if (fs.lower == nullptr) return uint64_t{0};
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  auto slot = find_name(fs, directory, name);
  return slot.ok() && slot->has_lower() ? slot->inode : uint64_t{0};
}

Status no_room_for_victim(std::string_view text) {
  return fail(ENOSPC,
              "%.*s: cannot remove: a process has it open, so its bytes are read into the pool "
              "first, and the pool is full; drain it or make it larger",
              static_cast<int>(text.size()), text.data());
}

Status stage_victim(FileSystem& fs, uint64_t number, std::string_view text, uint64_t* lost) {
  const Status staged = fs.lower == nullptr ? Status(EIO) : fs.lower->stage(number);
  if (!staged.ok()) *lost = number;
  if (staged.code() != ENOSPC) return Status();
  const auto inode = live_inode(fs, number);
  const bool has_only_copy = inode.ok() && ((*inode)->flags.load() & format::flag_evicted) != 0;
  return has_only_copy ? no_room_for_victim(text) : Status();
}

Status fill_victim(FileSystem& fs, const Map& directory, const Name& name, uint64_t* lost) {
  CAIRN_TRY_ASSIGN(number, lower_inode(fs, directory, name));
  if (number == 0) return Status();
  auto map = live_map(fs, number);
  if (!map.ok() || !is_lazy(*map->inode)) return Status();
  if (S_ISDIR(map->inode->mode.load())) return fs.lower->fill_directory(number);
  if (map->inode->opens.load() == 0) return Status();
  return stage_victim(fs, number, name.view(), lost);
}

}  // namespace cairn::file::names
