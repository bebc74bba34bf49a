#include "file/namespace/locked_name.h"

#include <sys/stat.h>

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
    return fail(EINVAL,
                "invalid name \"%s\": expected 1 to 255 bytes without \"/\", not \".\" or \"..\"",
                printable_name(text.data(), text.size()).c_str());
  return make_name(text.data(), text.size());
}

Result<Map> live_map(FileSystem& fs, uint64_t number) {
  auto inode = live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  return Map{*inode, number};
}

Result<DirentSlot> find_existing(const FileSystem& fs, const Map& directory, const Name& name) {
  auto slot = find_name(fs, directory, name);
  if (slot.code() == ENOENT)
    return fail(ENOENT, "%.*s: no such file or directory", static_cast<int>(name.length),
                name.text);
  // The directory's lock is already held.
  if (slot.ok() && slot->inode == directory.number)
    return fail(EUCLEAN, "directory %llu: slot %llu, \"%s\", names the directory itself",
                static_cast<unsigned long long>(directory.number),
                static_cast<unsigned long long>(slot->unit),
                printable_name(name.text, name.length).c_str());
  return slot;
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

}  // namespace cairn::file::names
